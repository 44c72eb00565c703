"""A running broadcast, and calls that are answered one after the other."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

from delivery import reasons
from delivery.ledger import Claim
from delivery.models import Broadcast, Delivery
from delivery.outcomes import Verdict, verdict_on
from delivery.recording import Answer, record_and_claim
from posts import clock
from subscribers.models import Subscriber
from subscribers.telegram.outcomes import RecipientGone
from tests.delivery.running import make_proven, turn
from tests.factories import LONG_AGO

SENT = Verdict(Delivery.Status.SENT, message_id="77")
UNREACHABLE = verdict_on(RecipientGone("chat not found", left_reason="unreachable"), file_id="")
NOT_STARTED = verdict_on(RecipientGone("can't initiate", left_reason=""), file_id="")
UNKNOWN = Verdict(Delivery.Status.UNKNOWN, "no answer")


def make_waiting(broadcast: Broadcast, count: int) -> None:
    people = [Subscriber(chat_id=10**6 + number, joined_at=LONG_AGO) for number in range(count)]
    Delivery.objects.bulk_create(
        # One after the other: within a test all answers have one moment, and only the rows' order tells them apart.
        Delivery(broadcast=broadcast, subscriber=person, not_before=LONG_AGO + timedelta(seconds=number))
        for number, person in enumerate(Subscriber.objects.bulk_create(people))
    )


def make_running(count: int) -> Broadcast:
    broadcast = make_proven(date=clock.local_date(clock.now()))
    make_waiting(broadcast, count)
    return broadcast


def record(broadcast: Broadcast, claims: Sequence[Claim], verdict: Verdict) -> None:
    record_and_claim(
        broadcast_id=broadcast.pk,
        revision=1,
        bot_id=1024,
        answers=[Answer(claim, verdict, is_probe=False) for claim in claims],
        want=0,
        token=uuid4(),
        is_probe=False,
    )


def answer(broadcast: Broadcast, verdict: Verdict, count: int) -> None:
    """Let so many calls, one after the other, end so."""
    for claim in turn(broadcast, want=count):
        record(broadcast, [claim], verdict)


def left() -> int:
    return Subscriber.objects.exclude(left_at=None).count()


def outcome(broadcast: Broadcast) -> tuple[str, str]:
    broadcast.refresh_from_db()
    return broadcast.status, broadcast.reason


PAUSED = ("paused", reasons.WRONG_BOT)
