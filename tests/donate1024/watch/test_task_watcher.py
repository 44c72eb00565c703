"""What the watch task tells of, over several looks, each of which may be another process'."""

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db.models import F
from pytest_django import Settings

from donate1024.alerts import folding
from donate1024.alerts.folding import Folding
from donate1024.alerts.models import Alert
from donate1024.watch import task_watcher
from donate1024.watch.heartbeats import Sign, give
from donate1024.watch.models import Heartbeat
from donate1024.watch.rules import RULES
from posts import clock
from tests.http_peer import HttpPeer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _folding(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The alerts' thread ends with the test."""
    ours = Folding()
    monkeypatch.setattr(folding, "FOLDING", ours)
    yield
    ours.close()


@pytest.fixture
def long_at_work() -> None:
    """The looks have come for an hour, and all is well."""
    give(*(Sign(rule.part) for rule in RULES if not rule.is_server))
    give(Sign(task_watcher.NAME))
    Heartbeat.objects.update(since=F("since") - timedelta(hours=1))


def pass_time(seconds: float, *, but: str = "") -> None:
    """For every part but one, which gave a sign meanwhile."""
    Heartbeat.objects.exclude(name=but).exclude(name=task_watcher.NAME).update(at=F("at") - timedelta(seconds=seconds))


def look(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """What one look told, with its condition."""
    caplog.set_level(logging.INFO)
    caplog.clear()
    task_watcher.look_around()
    return [
        (record.levelname, getattr(record, "opens", "") or getattr(record, "closes", ""))
        for record in caplog.records
        if record.name == "donate1024.watch.telling"
    ]


def test_a_bot_that_falls_silent_is_told_once_and_so_is_its_return(
    long_at_work: None, caplog: pytest.LogCaptureFixture
) -> None:
    look(caplog)
    pass_time(100)

    told = look(caplog) + look(caplog)
    give(Sign("bot"))
    told += look(caplog) + look(caplog)

    assert [(level, part) for level, part in told if part == "bot"] == [("ERROR", "bot"), ("INFO", "bot")]


def test_the_rest_is_told_by_the_bot(long_at_work: None, caplog: pytest.LogCaptureFixture) -> None:
    look(caplog)
    pass_time(140, but="bot")

    assert look(caplog) == []


def test_while_the_bot_is_silent_the_task_tells_the_rest_too(
    long_at_work: None, caplog: pytest.LogCaptureFixture
) -> None:
    look(caplog)
    pass_time(140, but="beat")
    give(Sign("queue:default"))
    give(Sign("queue:bluesky"))
    give(Sign("web"))

    assert [told for told in look(caplog) if told[0] == "ERROR"] == [("ERROR", "queue:telegram"), ("ERROR", "bot")]


def test_what_the_task_told_for_a_silent_bot_it_ends_after_the_bot_is_back(
    long_at_work: None, caplog: pytest.LogCaptureFixture
) -> None:
    look(caplog)
    pass_time(140, but="beat")
    told = look(caplog)
    assert ("ERROR", "queue:telegram") in told

    give(Sign("bot"))
    told = look(caplog)
    give(Sign("queue:telegram"))
    told += look(caplog) + look(caplog)

    assert [part for level, part in told if level == "INFO"].count("queue:telegram") == 1


@pytest.mark.parametrize("condition", ["polling", "token", "webhook", "conflict"])
def test_what_the_bot_has_told_of_its_polling_is_not_told_again(
    condition: str, long_at_work: None, caplog: pytest.LogCaptureFixture
) -> None:
    look(caplog)
    now = clock.now()
    alert = Alert.objects.create(key=condition, is_condition=True, text="x", count=1, first_at=now, last_at=now)
    pass_time(250, but="bot")

    told = look(caplog)
    alert.recovered_at = now
    alert.save()

    assert ("ERROR", "polling") not in told
    assert ("ERROR", "polling") in look(caplog)


def test_after_a_break_in_the_looks_the_others_have_their_time_to_begin(
    long_at_work: None, caplog: pytest.LogCaptureFixture
) -> None:
    look(caplog)
    Heartbeat.objects.update(at=F("at") - timedelta(hours=8), since=F("since") - timedelta(hours=8))  # off

    assert look(caplog) == []


def test_the_outside_monitor_hears_what_is_wrong_and_that_all_is_well(long_at_work: None, settings: Settings) -> None:
    with HttpPeer() as monitor:
        settings.HEARTBEAT_URL = f"{monitor.url}/check"
        give(Sign("beat"))
        task_watcher.look_around()
        pass_time(140, but="bot")
        task_watcher.look_around()

    assert monitor.paths() == ["/check/start", "/check", "/check/start", "/check/fail"]
    assert "The part that keeps the time has stood still for 2 min." in monitor.asked[-1].body
    assert "the mornings" not in monitor.asked[-1].body  # what follows from it is not told


def test_a_server_that_does_not_answer_is_told_outside_by_what_it_said_alone(
    long_at_work: None, frozen_valkey: None, settings: Settings
) -> None:
    with HttpPeer() as monitor:
        settings.HEARTBEAT_URL = f"{monitor.url}/check"
        task_watcher.look_around()

    assert monitor.asked[-1].body == "valkey: no answer within 5 s"


def test_misses_of_the_outside_monitor_are_counted_over_all_looks(
    long_at_work: None, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with HttpPeer() as monitor:
        settings.HEARTBEAT_URL = f"{monitor.url}/check"
        statuses = [200, 500, 500, 500, 500, 200, 200]
        monitor.answer = lambda _: (statuses[0], "OK")
        while statuses:
            task_watcher.look_around()
            statuses.pop(0)

    told = [record for record in caplog.records if record.name == "donate1024.watch.outside_monitor"]
    assert [record.levelname for record in told] == ["INFO", "ERROR", "INFO"]


def test_a_frozen_database_costs_a_look_seconds_and_is_told_outside(frozen_postgres: None, settings: Settings) -> None:
    with HttpPeer() as monitor:
        settings.HEARTBEAT_URL = f"{monitor.url}/check"
        task_watcher.look_around()

    assert monitor.paths() == ["/check/start", "/check/fail"]
    assert "database" in monitor.asked[-1].body


def test_a_look_forgets_what_ended_three_months_ago(long_at_work: None) -> None:
    long_ago = clock.now() - timedelta(days=91)
    facts = {"is_condition": True, "text": "It leaks.", "first_at": long_ago, "last_at": long_ago}
    Alert.objects.create(key="roof", recovered_at=long_ago, **facts)

    task_watcher.look_around()

    assert not Alert.objects.filter(key="roof").exists()
