"""A bot whom the list never met unsubscribes nobody; a list that is really dead is told from it by a person."""

from datetime import timedelta

import pytest

from delivery import control, reasons
from delivery.models import Broadcast, Delivery
from delivery.outcomes import Verdict, verdict_on
from posts import clock
from subscribers.models import Subscriber
from subscribers.telegram.outcomes import ChatRefused
from tests.delivery.gone import (
    NOT_STARTED,
    PAUSED,
    SENT,
    UNKNOWN,
    UNREACHABLE,
    answer,
    left,
    make_running,
    outcome,
    record,
)
from tests.delivery.running import turn
from tests.delivery.slices import states
from tests.delivery.traces import errors, pause_alert
from tests.factories import LONG_AGO, make_subscriber

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("verdict", [UNREACHABLE, NOT_STARTED])
def test_where_nobody_was_reached_five_are_enough(verdict: Verdict) -> None:
    broadcast = make_running(5)

    answer(broadcast, verdict, 4)
    before = outcome(broadcast)
    answer(broadcast, verdict, 1)

    assert before == ("sending", "")
    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert states(broadcast) == ["pending"] * 5


@pytest.mark.parametrize("reached", [SENT, UNKNOWN, verdict_on(ChatRefused("no rights"), file_id="")])
def test_a_short_list_of_which_one_was_perhaps_reached_is_believed(reached: Verdict) -> None:
    broadcast = make_running(12)

    answer(broadcast, reached, 1)
    answer(broadcast, UNREACHABLE, 11)

    assert outcome(broadcast) == ("sending", "")
    assert left() == 11


@pytest.mark.django_db(transaction=True)  # whoever is asked again is due by the database's clock
def test_a_short_dead_list_is_taken_down_once_a_person_says_so() -> None:
    broadcast = make_running(6)
    answer(broadcast, UNREACHABLE, 5)
    before = outcome(broadcast)

    control.resume(broadcast, by="Ольга", at=clock.now() - timedelta(seconds=1))
    Broadcast.objects.update(hold_until=None)
    answer(broadcast, UNREACHABLE, 6)

    assert before == PAUSED
    assert outcome(broadcast) == ("sending", "")
    assert left() == 6


@pytest.mark.parametrize("verdict", [UNREACHABLE, NOT_STARTED])
def test_twenty_of_the_first_fifty_pause_and_their_leavings_are_undone(
    verdict: Verdict, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_running(60)
    answer(broadcast, SENT, 30)

    answer(broadcast, verdict, 19)
    before = outcome(broadcast)
    answer(broadcast, verdict, 1)

    assert before == ("sending", "")
    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert states(broadcast).count("pending") == 30
    assert errors(caplog) == [pause_alert(broadcast, reasons.WRONG_BOT)]


def test_nineteen_of_the_first_fifty_are_believed() -> None:
    broadcast = make_running(250)

    answer(broadcast, SENT, 1)
    answer(broadcast, UNREACHABLE, 19)
    answer(broadcast, SENT, 30)
    answer(broadcast, UNREACHABLE, 20)

    assert outcome(broadcast) == ("sending", "")
    assert left() == 39


def test_more_than_half_of_the_last_two_hundred_pause_in_mid_run() -> None:
    broadcast = make_running(400)
    answer(broadcast, SENT, 150)

    answer(broadcast, UNREACHABLE, 100)
    before = outcome(broadcast), left()
    answer(broadcast, UNREACHABLE, 1)

    assert before == (("sending", ""), 100)
    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert states(broadcast).count("pending") == 250


def test_answers_that_nobody_knows_of_count_among_the_answered() -> None:
    broadcast = make_running(60)

    answer(broadcast, UNKNOWN, 31)
    answer(broadcast, UNREACHABLE, 19)
    answer(broadcast, UNREACHABLE, 5)

    assert outcome(broadcast) == ("sending", "")


def test_whoever_was_skipped_without_a_call_is_no_sign() -> None:
    broadcast = make_running(30)
    for number in range(40):
        gone = make_subscriber(chat_id=5000 + number, left_reason="blocked")
        Delivery.objects.create(
            broadcast=broadcast, subscriber=gone, status="skipped", reason="blocked", settled_at=LONG_AGO
        )

    answer(broadcast, UNREACHABLE, 1)

    assert outcome(broadcast) == ("sending", "")


def test_whoever_asked_to_stop_meanwhile_stays_off() -> None:
    broadcast = make_running(21)
    answer(broadcast, SENT, 1)
    claims = turn(broadcast, want=20)
    record(broadcast, claims[:19], UNREACHABLE)
    stopped = Subscriber.objects.get(pk=claims[0].subscriber_id)
    Subscriber.objects.leave(chat_id=stopped.chat_id, reason="stopped", at=clock.now())

    record(broadcast, claims[19:], UNREACHABLE)

    stopped.refresh_from_db()
    assert (left(), stopped.left_reason) == (1, "stopped")


def test_answers_that_come_after_the_pause_unsubscribe_nobody() -> None:
    broadcast = make_running(30)
    claims = turn(broadcast, want=26)
    record(broadcast, claims[:20], UNREACHABLE)

    for claim in claims[20:]:
        record(broadcast, [claim], UNREACHABLE)

    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert set(states(broadcast)) == {"pending"}


def test_answers_that_come_after_somebody_paused_first_unsubscribe_nobody() -> None:
    broadcast = make_running(30)
    answer(broadcast, SENT, 1)
    claims = turn(broadcast, want=26)
    record(broadcast, claims[:19], UNREACHABLE)
    control.pause(broadcast, by="Ольга")

    for claim in claims[19:]:
        record(broadcast, [claim], UNREACHABLE)

    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert states(broadcast) == ["sent"] + ["pending"] * 29


def test_many_answers_at_once_are_weighed_together() -> None:
    broadcast = make_running(60)

    record(broadcast, turn(broadcast, want=60), UNREACHABLE)

    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert set(states(broadcast)) == {"pending"}


@pytest.mark.django_db(transaction=True)  # whoever is asked again is due by the database's clock
def test_a_dead_list_goes_on_to_its_end_once_a_person_says_so() -> None:
    broadcast = make_running(120)
    answer(broadcast, UNREACHABLE, 20)
    before = outcome(broadcast)

    control.resume(broadcast, by="Ольга", at=clock.now() - timedelta(seconds=1))
    Broadcast.objects.update(hold_until=None)
    answer(broadcast, UNREACHABLE, 120)

    assert before == PAUSED
    assert outcome(broadcast) == ("sending", "")
    assert left() == 120
    assert states(broadcast).count("skipped") == 120


def test_another_pause_and_resume_do_not_switch_the_rule_off() -> None:
    broadcast = make_running(60)
    control.pause(broadcast, by="Ольга")

    control.resume(broadcast, by="Ольга", at=clock.now() - timedelta(seconds=1))
    Broadcast.objects.update(hold_until=None)
    answer(broadcast, UNREACHABLE, 20)

    assert outcome(broadcast) == PAUSED
