from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from delivery import ledger
from delivery.models import Broadcast
from posts import clock
from tests.delivery.running import make_proven
from tests.delivery.together import together
from tests.factories import make_broadcast, make_delivery, make_subscriber

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def win(broadcast: Broadcast, *, is_upload: bool = False) -> bool:
    return ledger.win_probe(broadcast_id=broadcast.pk, is_upload=is_upload)


@pytest.mark.django_db(transaction=True)
def test_one_of_many_wins_the_probe_and_the_broadcast_is_sending_from_there_on() -> None:
    broadcast = make_broadcast(status="planned")

    won = together(*[lambda: win(broadcast)] * 8)

    broadcast.refresh_from_db()
    assert sorted(won) == [False] * 7 + [True]
    assert broadcast.status == "sending"


@pytest.mark.parametrize(("seconds", "is_won"), [(-1, True), (1, False)])
def test_a_probe_lapses_so_that_a_killed_holder_does_not_stop_the_morning(seconds: int, *, is_won: bool) -> None:
    broadcast = make_broadcast(probe_until=clock.now() + timedelta(seconds=60 * seconds))

    assert win(broadcast) == is_won


def test_a_probe_is_held_for_longer_than_a_call_lasts() -> None:
    broadcast = make_broadcast()

    win(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.probe_until
    assert timedelta(seconds=36) < broadcast.probe_until - clock.now() <= timedelta(seconds=40)


def test_a_proven_broadcast_needs_no_probe_but_for_the_upload() -> None:
    broadcast = make_proven()

    assert not win(broadcast)
    assert win(broadcast, is_upload=True)


@pytest.mark.parametrize(("minutes", "is_won"), [(-1, True), (1, False)])
@pytest.mark.parametrize("is_upload", [False, True])
def test_a_hold_ends_with_a_probe_and_not_before_its_time(minutes: int, *, is_won: bool, is_upload: bool) -> None:
    broadcast = make_proven(hold_until=clock.now() + minutes * MINUTE)

    assert win(broadcast, is_upload=is_upload) == is_won


@pytest.mark.parametrize(("minutes", "is_won"), [(1, True), (-1, False)])
def test_a_first_message_goes_until_the_latest_start_only(minutes: int, *, is_won: bool) -> None:
    broadcast = make_broadcast(status="planned", begin_until=clock.now() + minutes * MINUTE)

    assert win(broadcast) == is_won


@pytest.mark.parametrize("is_upload", [False, True])
def test_what_has_begun_is_probed_after_the_latest_start_too(*, is_upload: bool) -> None:
    broadcast = make_proven(begin_until=clock.now() - MINUTE, hold_until=clock.now() - MINUTE)

    assert win(broadcast, is_upload=is_upload)


@pytest.mark.parametrize("status", ["paused", "finished", "cancelled", "expired", "skipped"])
def test_nobody_probes_a_broadcast_that_does_not_run(status: str) -> None:
    broadcast = make_broadcast(status=status, reason="so", finished_at=clock.now())

    assert not win(broadcast, is_upload=True)


def test_a_probe_is_of_one_broadcast_alone() -> None:
    broadcast, other = make_broadcast(), make_broadcast(date=clock.now().date())

    win(broadcast)

    assert win(other)


def test_a_probe_goes_by_the_sandbox_clock(set_clock: Callable[[datetime], None]) -> None:
    tonight, tomorrow = clock.now() + timedelta(hours=12), clock.now() + timedelta(days=1)
    held = make_proven(hold_until=tonight, probe_until=tonight)
    too_late = make_broadcast(date=tonight.date(), begin_until=tonight)

    set_clock(tomorrow)

    assert win(held)
    assert not win(held)
    assert not win(too_late)


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        ({}, 0),
        ({"status": "planned"}, 0),
        ({"hold_until": 90}, 90),
        ({"hold_until": -90}, 0),
        ({"first_sent_at": None, "probe_until": 30}, 0),
        ({"hold_until": -90, "probe_until": 30}, 0),
    ],
)
def test_the_next_look_is_when_the_hold_is_over_and_at_once_while_somebody_probes(
    facts: dict[str, Any], seconds: float
) -> None:
    now = clock.now()
    moments = {name: now + timedelta(seconds=value) for name, value in facts.items() if isinstance(value, int)}
    broadcast = make_proven(**facts | moments)
    make_delivery(broadcast)

    left = ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1)

    assert left is not None
    assert max(left, 0) == pytest.approx(seconds, abs=5)


def test_the_next_look_is_when_the_next_row_is_due() -> None:
    broadcast = make_proven()
    make_delivery(broadcast, not_before=clock.now() + 2 * MINUTE)
    make_delivery(broadcast, not_before=clock.now() + MINUTE)

    assert ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1) == pytest.approx(60, abs=5)


@pytest.mark.parametrize("facts", [{"status": "paused", "reason": "so"}, {"revision": 2}])
def test_there_is_no_next_look_at_a_broadcast_that_does_not_go_on(facts: dict[str, Any]) -> None:
    make_delivery(broadcast := make_proven(**facts))

    assert ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1) is None


def test_there_is_no_next_look_after_the_hour_until_which_a_broadcast_runs() -> None:
    make_delivery(broadcast := make_proven(run_until=clock.now() - MINUTE))

    assert ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1) is None


def test_there_is_no_next_look_where_only_people_who_left_are_pending() -> None:
    make_delivery(broadcast := make_proven(), subscriber=make_subscriber(left_reason="stopped"))

    assert ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1) is None


def test_there_is_no_next_look_where_nothing_of_this_broadcast_is_pending() -> None:
    broadcast = make_proven()
    make_delivery(broadcast, status="sent", message_id="1")
    make_delivery(make_proven(date=clock.now().date()))

    assert ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1) is None


def test_the_next_look_goes_by_the_sandbox_clock(set_clock: Callable[[datetime], None]) -> None:
    tonight, tomorrow = clock.now() + timedelta(hours=12), clock.now() + timedelta(days=1)
    make_delivery(until_tonight := make_proven(run_until=tonight))
    make_delivery(broadcast := make_proven(date=tonight.date()), not_before=tomorrow + MINUTE)

    set_clock(tomorrow)

    assert ledger.seconds_to_next(broadcast_id=until_tonight.pk, revision=1) is None
    assert ledger.seconds_to_next(broadcast_id=broadcast.pk, revision=1) == pytest.approx(60, abs=5)
