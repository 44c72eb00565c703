"""What the sweep puts right each minute, but for the newcomers and the end."""

from datetime import timedelta
from uuid import uuid4

import pytest

from delivery import sweeping
from delivery.models import Delivery
from delivery.sweeping import sweep
from tests.delivery.morning import DAY, MORNING, QUIET
from tests.delivery.running import make_sending
from tests.delivery.traces import errors, pause_alert
from tests.factories import make_broadcast, make_delivery, make_subscriber

pytestmark = pytest.mark.django_db
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


# In flight for too long.


def test_what_is_in_flight_for_three_minutes_becomes_unknown_and_is_never_sent_again() -> None:
    delivery = make_sending(make_broadcast(status="sending"))
    at = MORNING + 3 * MINUTE + SECOND

    sweep(at=at)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason, delivery.settled_at) == ("unknown", "no answer was recorded", at)


def test_an_answer_is_waited_for_for_three_minutes() -> None:
    delivery = make_sending(make_broadcast(status="sending"))

    sweep(at=MORNING + 3 * MINUTE)

    delivery.refresh_from_db()
    assert delivery.status == "sending"


def test_an_unknown_keeps_the_token_by_which_its_late_answer_counts() -> None:
    delivery = make_sending(make_broadcast(status="sending"))
    token = delivery.token

    sweep(at=MORNING + 4 * MINUTE)

    delivery.refresh_from_db()
    assert delivery.token == token


# People who left.


@pytest.mark.parametrize(
    ("left_reason", "reason"),
    [("stopped", "left"), ("blocked", "blocked"), ("deactivated", "deactivated"), ("unreachable", "unreachable")],
)
@pytest.mark.parametrize("status", ["planned", "sending"])
def test_whoever_left_before_their_turn_is_skipped_with_the_reason(left_reason: str, reason: str, status: str) -> None:
    broadcast = make_broadcast(status=status)
    delivery = make_delivery(broadcast, subscriber=make_subscriber(left_reason=left_reason))
    stays = make_delivery(broadcast)

    sweep(at=MORNING)

    delivery.refresh_from_db()
    stays.refresh_from_db()
    assert (delivery.status, delivery.reason, delivery.settled_at) == ("skipped", reason, MORNING)
    assert stays.status == "pending"


def test_whoever_left_while_their_message_was_on_its_way_is_not_called_skipped() -> None:
    delivery = make_sending(make_broadcast(status="sending"), subscriber=make_subscriber(left_reason="stopped"))

    sweep(at=MORNING)

    delivery.refresh_from_db()
    assert delivery.status == "sending"


# Broadcasts that will not go on.


@pytest.mark.parametrize("status", ["cancelled", "expired"])
def test_what_is_pending_of_a_broadcast_that_is_over_is_skipped_with_that_reason(status: str) -> None:
    broadcast = make_broadcast(status=status, reason="so")
    pending, on_its_way = make_delivery(broadcast), make_sending(broadcast)
    of_another = make_delivery(make_broadcast(date=DAY + timedelta(days=1), status="sending"))

    sweep(at=MORNING)

    pending.refresh_from_db()
    on_its_way.refresh_from_db()
    of_another.refresh_from_db()
    assert of_another.status == "pending"
    assert (pending.status, pending.reason, pending.settled_at) == ("skipped", status, MORNING)
    assert on_its_way.status == "sending"


def test_what_is_pending_of_a_paused_broadcast_waits() -> None:
    delivery = make_delivery(make_broadcast(status="paused", reason="so"))

    sweep(at=MORNING)

    delivery.refresh_from_db()
    assert delivery.status == "pending"


# The quiet hour.


def test_what_still_waits_at_the_quiet_hour_is_paused_and_told(caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_broadcast(status="sending", run_until=QUIET)
    make_delivery(broadcast)

    sweep(at=QUIET)
    sweep(at=QUIET + MINUTE)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("paused", "quiet hour")
    assert errors(caplog) == [pause_alert(broadcast, "quiet hour")]


def test_until_the_quiet_hour_a_broadcast_goes_on() -> None:
    broadcast = make_broadcast(status="sending", run_until=QUIET)
    make_delivery(broadcast)

    sweep(at=QUIET - SECOND)

    broadcast.refresh_from_db()
    assert broadcast.status == "sending"


def test_the_last_calls_on_their_way_at_the_quiet_hour_need_no_person(caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_broadcast(status="sending", run_until=QUIET)
    delivery = make_sending(broadcast, claimed_at=QUIET - SECOND)

    sweep(at=QUIET)
    Delivery.objects.filter(pk=delivery.pk).update(status="sent", message_id="77")
    sweep(at=QUIET + MINUTE)

    broadcast.refresh_from_db()
    assert broadcast.status == "finished"
    assert errors(caplog) == []


def test_people_who_left_do_not_make_a_broadcast_wait_at_the_quiet_hour() -> None:
    broadcast = make_broadcast(status="sending", run_until=QUIET)
    make_delivery(broadcast, subscriber=make_subscriber(left_reason="stopped"))

    sweep(at=QUIET)

    broadcast.refresh_from_db()
    assert broadcast.status == "finished"


def test_a_second_sweep_changes_nothing_but_the_queue() -> None:
    broadcast = make_broadcast(status="sending")
    make_sending(broadcast)
    make_delivery(broadcast)
    make_delivery(broadcast, subscriber=make_subscriber(left_reason="stopped"))
    sweep(at=MORNING + 4 * MINUTE)
    before = list(Delivery.objects.order_by("pk").values())

    sweep(at=MORNING + 5 * MINUTE)

    assert list(Delivery.objects.order_by("pk").values()) == before


def test_a_broadcast_that_did_not_begin_in_its_window_waits_for_a_person() -> None:
    late = make_broadcast(status="planned", begin_until=MORNING)
    make_delivery(late)

    sweeping.pause_late_starts(at=MORNING)

    late.refresh_from_db()
    assert (late.status, late.reason) == ("paused", "not begun in its window")


def test_a_broadcast_that_began_in_its_window_may_run_past_its_latest_start() -> None:
    begun = make_broadcast(status="sending", begin_until=MORNING, first_sent_at=MORNING)
    make_delivery(begun)

    sweeping.pause_late_starts(at=MORNING)

    begun.refresh_from_db()
    assert begun.status == "sending"


def test_a_newcomer_of_the_last_minute_does_not_stop_a_finished_day() -> None:
    day = make_broadcast(date=DAY, status="sending", run_until=QUIET, finished_at=MORNING, first_sent_at=MORNING)
    late = make_delivery(day)

    sweep(at=QUIET)

    day.refresh_from_db()
    late.refresh_from_db()
    assert (day.status, late.status, late.reason) == ("finished", "skipped", "quiet hour")
    assert late.settled_at == QUIET


def test_a_morning_that_perhaps_arrived_counts_as_shown() -> None:
    broadcast = make_broadcast(date=DAY, status="sending")
    make_delivery(broadcast, status="sending", token=uuid4(), claimed_at=MORNING - timedelta(minutes=4))

    sweeping.expire_sending(at=MORNING)

    fundraiser = broadcast.fundraiser
    assert fundraiser
    fundraiser.refresh_from_db()
    assert (fundraiser.times_shown, fundraiser.last_shown_on) == (1, DAY)


def test_a_queue_that_is_away_costs_one_line_and_stops_nothing_else(
    broker_away: None, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = make_broadcast(status="sending", date=DAY)
    make_delivery(waiting)
    done = make_broadcast(status="sending", date=DAY + timedelta(days=1))
    make_delivery(done, status="sent", message_id="77")

    sweep(at=MORNING)

    done.refresh_from_db()
    assert done.status == "finished"
    assert [record.getMessage().partition(":")[0] for record in caplog.records if record.levelname != "INFO"] == [
        f"the queue is out of reach, broadcast {waiting.pk} waits for the next sweep"
    ]
