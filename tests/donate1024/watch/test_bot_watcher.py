"""The bot's watch, look after look, beside servers that freeze and parts that die."""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from time import monotonic

import pytest
from django.db.models import F
from pytest_django import Settings

from donate1024.alerts import folding
from donate1024.alerts.folding import Folding
from donate1024.watch import bot_watcher
from donate1024.watch.bot_watcher import Watcher
from donate1024.watch.heartbeats import Sign, give
from donate1024.watch.models import Heartbeat
from donate1024.watch.rules import RULES
from tests.donate1024.watch.silent import frozen_database

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    """The watcher's own, which goes on as the test says."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return monotonic() + self.ahead


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """All parts have just given a sign, as they have for an hour."""
    clock, ours = Clock(), Folding()
    monkeypatch.setattr(bot_watcher, "monotonic", clock)
    monkeypatch.setattr(folding, "FOLDING", ours)
    for rule in RULES:
        give(Sign(rule.part))
    Heartbeat.objects.exclude(name="bot").update(since=F("since") - timedelta(hours=1))
    yield clock
    ours.close()


def pass_time(time: Clock, seconds: float, *, but: Iterable[str] = ()) -> None:
    """The bot has looked meanwhile; of the others only these gave a sign."""
    time.ahead += seconds
    gone = timedelta(seconds=seconds)
    Heartbeat.objects.exclude(name__in=["bot", *but]).update(at=F("at") - gone)
    Heartbeat.objects.filter(name="bot").update(since=F("since") - gone)


def look(watcher: Watcher, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Of what one look told that it began, and of what that it ended (in brackets)."""
    caplog.set_level(logging.INFO)
    caplog.clear()
    asyncio.run(watcher.look(lag=0.2))
    told = [record for record in caplog.records if record.name == "donate1024.watch.telling"]
    return [record.opens if hasattr(record, "opens") else f"({getattr(record, 'closes', '')})" for record in told]


def test_a_look_writes_the_bots_signs_with_its_lag_and_when_it_last_heard(time: Clock) -> None:
    watcher = Watcher()
    watcher.heard()
    time.ahead += 20

    asyncio.run(watcher.look(lag=0.25))

    assert Heartbeat.objects.get(name="bot").detail["lag"] == 0.25
    bot, polling = Heartbeat.objects.filter(name__in=["bot", "polling"]).order_by("name")
    assert 19 < (bot.at - polling.at).total_seconds() < 40


def test_a_part_that_falls_silent_is_told_once_and_so_is_its_return(
    time: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = Watcher()
    look(watcher, caplog)
    pass_time(time, 140, but=["beat", "queue:default", "queue:bluesky", "web"])

    told = [look(watcher, caplog), look(watcher, caplog)]
    give(Sign("queue:telegram"))
    told += [look(watcher, caplog), look(watcher, caplog)]

    assert told == [["queue:telegram"], [], ["(queue:telegram)"], []]


def test_what_only_the_task_tells_is_left_to_it(time: Clock, caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher()
    look(watcher, caplog)
    pass_time(time, 300, but=[rule.part for rule in RULES if rule.part != "polling"])

    assert look(watcher, caplog) == []


def test_a_database_that_freezes_is_told_after_a_minute_and_the_rest_gets_its_time_when_it_is_back(
    time: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = Watcher()
    look(watcher, caplog)
    with frozen_database():
        time.ahead += 40
        at_first = look(watcher, caplog)
        pass_time(time, 40)
        told = look(watcher, caplog)
        pass_time(time, 400)

    back = look(watcher, caplog)
    pass_time(time, 60)
    soon = look(watcher, caplog)
    pass_time(time, 40)
    later = look(watcher, caplog)

    assert (at_first, told, back, soon, later) == ([], ["database"], ["(database)"], [], ["beat", "web"])


def test_a_valkey_that_is_away_is_told_and_the_queues_behind_it_are_not(
    time: Clock, caplog: pytest.LogCaptureFixture, settings: Settings
) -> None:
    watcher = Watcher()
    look(watcher, caplog)
    there, settings.REDIS_URL = settings.REDIS_URL, "redis://127.0.0.1:9/0"
    pass_time(time, 140)

    assert look(watcher, caplog) == ["valkey"]
    settings.REDIS_URL = there
    assert look(watcher, caplog) == ["(valkey)"]


async def test_a_look_that_fails_for_an_unforeseen_reason_is_told_and_the_next_one_comes(
    time: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher()
    monkeypatch.setattr(bot_watcher, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(watcher, "look", lambda **_: 1 / 0)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await watcher.run()

    failures = [record for record in caplog.records if record.levelname == "ERROR"]
    assert len(failures) > 1
    assert "What to do: " in failures[0].getMessage()
