"""What a look finds. It has a connection of its own, so that only what is committed counts."""

import asyncio
import threading
from datetime import datetime, time, timedelta
from math import inf
from pathlib import Path
from time import monotonic

import pytest
import redis
from django.db import connection
from pytest_django import Settings

from delivery.history import Change
from delivery.models import Broadcast, Delivery
from donate1024.stack import environment
from donate1024.stack.embedded import Valkey
from donate1024.watch.heartbeats import Sign, give
from donate1024.watch.looking import look
from posts import clock
from tests.factories import make_broadcast, make_delivery, make_schedule

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


def test_every_sign_has_its_age_and_its_detail() -> None:
    give(Sign("queue:telegram", ago=40))
    give(Sign("bot", ago=5, detail={"lag": 0.25}))

    seen = asyncio.run(look())

    assert not seen.troubles
    assert 40 <= seen.ages["queue:telegram"] < 60
    assert 5 <= seen.ages["bot"] < 25
    assert seen.details["bot"]["lag"] == 0.25
    assert seen.ages["queue:default"] == inf
    assert seen.ages["database"] == seen.ages["valkey"] == 0


def test_a_look_gives_its_lookers_own_signs() -> None:
    give(Sign("bot", ago=30))

    seen = asyncio.run(look(Sign("bot"), Sign("polling", ago=12)))

    assert seen.ages["bot"] < 10
    assert 12 <= seen.ages["polling"] < 30
    assert 30 <= seen.unbroken["bot"] < 50


# The day


def waiting() -> float:
    return asyncio.run(look()).ages["deliveries"]


def test_where_nothing_is_on_its_way_nothing_waits() -> None:
    assert waiting() == 0

    broadcast = make_broadcast(status=Broadcast.Status.SENDING)
    make_delivery(broadcast, status=Delivery.Status.UNKNOWN, reason="x")

    assert waiting() == 0


@pytest.mark.parametrize("status", [Broadcast.Status.PLANNED, Broadcast.Status.SENDING])
def test_deliveries_wait_since_their_hour(status: Broadcast.Status) -> None:
    broadcast = make_broadcast(status=status)
    for ago in (700, 30):
        make_delivery(broadcast, not_before=clock.now() - timedelta(seconds=ago))

    assert 700 <= waiting() < 720


def test_an_answer_or_a_persons_act_since_then_says_that_it_moves() -> None:
    broadcast = make_broadcast(status=Broadcast.Status.SENDING)
    make_delivery(broadcast, not_before=clock.now() - 2 * HOUR)
    answered = clock.now() - HOUR
    make_delivery(
        broadcast, status=Delivery.Status.SENT, message_id="1", claimed_at=answered, settled_at=answered, token=None
    )
    after_the_answer = waiting()
    Change.objects.create(broadcast=broadcast, what=Change.What.RESUMED, at=clock.now() - timedelta(minutes=2))

    assert 3600 <= after_the_answer < 3620
    assert 120 <= waiting() < 140


@pytest.mark.parametrize(
    "facts",
    [
        {"status": Broadcast.Status.PAUSED, "reason": "x"},
        {"status": Broadcast.Status.CANCELLED},
        {"status": Broadcast.Status.SENDING, "run_until": datetime.fromisoformat("2021-01-01T00:00:00Z")},
    ],
)
def test_what_waits_for_a_person_or_for_nobody_is_not_waiting(facts: dict[str, object]) -> None:
    make_delivery(make_broadcast(**facts))

    assert waiting() == 0


def test_a_postponed_group_is_not_waiting() -> None:
    make_delivery(make_broadcast(status=Broadcast.Status.SENDING), not_before=clock.now() + HOUR)

    assert waiting() < 0


@pytest.fixture
def quarter_past_eight(settings: Settings, tmp_path: Path) -> datetime:
    settings.STATE_DIR = tmp_path
    at = clock.now()
    due = clock.local_moment(clock.local_date(at) + timedelta(days=1), time(8, 15))
    (tmp_path / "clock-offset").write_text(str((due - at).total_seconds()))
    return due


def overdue() -> float:
    return asyncio.run(look()).ages["morning"]


def test_a_due_morning_without_a_broadcast_is_overdue(quarter_past_eight: datetime) -> None:
    make_schedule()

    assert 900 <= overdue() < 930


def test_a_morning_that_was_missed_without_a_word_is_overdue_too(quarter_past_eight: datetime) -> None:
    make_schedule(latest_after=timedelta(minutes=5))

    assert 900 <= overdue() < 930


def test_a_morning_is_not_overdue_which_has_its_row(quarter_past_eight: datetime) -> None:
    make_schedule()
    make_broadcast(date=clock.local_date(quarter_past_eight))

    assert overdue() == 0


@pytest.mark.parametrize("facts", [{"is_enabled": False}, {"send_at": time(8, 20)}])
def test_a_morning_is_not_overdue_which_is_not_due(quarter_past_eight: datetime, facts: dict[str, object]) -> None:
    make_schedule(**facts)

    assert overdue() == 0


def test_without_a_schedule_nothing_is_overdue() -> None:
    assert overdue() == 0


# Servers that do not answer


def test_a_frozen_database_is_given_up_in_time_and_leaves_nothing_behind(frozen_postgres: None) -> None:
    threads = threading.active_count()
    began = monotonic()

    seen = [asyncio.run(look(Sign("bot"))) for _ in range(2)]

    assert monotonic() - began < 30
    assert [set(each.troubles) for each in seen] == [{"database"}] * 2
    assert [each.ages for each in seen] == [{"valkey": 0}] * 2
    assert threading.active_count() == threads


def test_a_frozen_valkey_hides_nothing_of_the_rest(frozen_valkey: None) -> None:
    give(Sign("bot"))

    seen = asyncio.run(look())

    assert set(seen.troubles) == {"valkey"}
    assert seen.ages["bot"] < 60


def test_a_database_that_takes_no_writes_is_told_also_to_one_who_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_only = {"options": "-c default_transaction_read_only=on"}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {**connection.settings_dict["OPTIONS"], **read_only})

    assert asyncio.run(look()).troubles["database"].startswith("ReadOnlySqlTransaction")


def test_a_valkey_whose_memory_is_full_is_told_though_it_answers(settings: Settings, tmp_path: Path) -> None:
    with Valkey(tmp_path) as valkey, redis.Redis(unix_socket_path=str(valkey.socket)) as client:
        settings.REDIS_URL = environment.redis_url(valkey.state)
        before = asyncio.run(look()).troubles
        client.config_set("maxmemory", 1)
        full = asyncio.run(look()).troubles

    assert before == {}
    assert full["valkey"].startswith("OutOfMemoryError")


def test_a_valkey_that_is_away_is_told_at_once(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"

    assert asyncio.run(look()).troubles["valkey"].startswith("ConnectionError")
