"""Which answers are weighed against the wrong bot, and what is touched where they are too many."""

from datetime import timedelta

import pytest

from delivery import control, reasons
from delivery.models import Broadcast, Delivery
from delivery.wrong_bot import weigh_gone
from posts import clock
from tests.delivery.running import make_proven
from tests.factories import LONG_AGO, make_broadcast, make_delivery

pytestmark = pytest.mark.django_db

SENT, GONE = {"status": "sent", "message_id": "77"}, {"status": "skipped", "reason": "blocked"}
MINUTE = timedelta(minutes=1)


def make_todays() -> Broadcast:
    return make_proven(date=clock.local_date(clock.now()))


def make_answered(broadcast: Broadcast, *answers: dict[str, str]) -> list[Delivery]:
    """Rows that were answered one after the other, the first of them made last."""
    rows = [
        make_delivery(broadcast, claimed_at=LONG_AGO, settled_at=LONG_AGO + number * MINUTE, **answers[number])
        for number in reversed(range(len(answers)))
    ]
    return rows[::-1]


def weighed(broadcast: Broadcast) -> tuple[str, str]:
    weigh_gone(broadcast.pk)
    broadcast.refresh_from_db()
    return broadcast.status, broadcast.reason


def test_the_first_fifty_are_those_that_were_answered_first() -> None:
    broadcast = make_todays()
    make_answered(broadcast, *[SENT] * 31, *[GONE] * 19, *[GONE] * 5)

    assert weighed(broadcast) == ("sending", "")


def test_what_was_answered_before_the_last_two_hundred_is_not_weighed() -> None:
    broadcast = make_todays()
    make_answered(broadcast, GONE, *[SENT] * 100, *[GONE] * 100)

    assert weighed(broadcast) == ("sending", "")


def test_whoever_was_gone_waits_again_as_if_never_called() -> None:
    broadcast = make_todays()
    make_answered(broadcast, *[GONE] * 20)

    weighed(broadcast)

    assert set(Delivery.objects.values_list("status", "reason", "settled_at")) == {("pending", "", None)}


def test_what_a_person_cancelled_stays_cancelled_by_hand() -> None:
    broadcast = make_todays()
    make_answered(broadcast, *[GONE] * 20)
    control.cancel(broadcast, by="Ольга", at=clock.now())

    assert weighed(broadcast) == ("cancelled", reasons.CANCELLED_BY_HAND)


def test_another_paused_broadcast_keeps_its_reason() -> None:
    broadcast = make_todays()
    make_answered(broadcast, *[GONE] * 20)
    other = make_broadcast(date=broadcast.date - timedelta(days=1), status="paused", reason="so")
    control.pause(broadcast, by="Ольга")

    assert weighed(broadcast) == ("paused", reasons.WRONG_BOT)
    other.refresh_from_db()
    assert other.reason == "so"
