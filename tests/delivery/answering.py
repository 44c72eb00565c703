"""A delivery on its way, and the answer that is recorded."""

from typing import Any
from uuid import uuid4

from delivery.ledger import Claim
from delivery.models import Broadcast, Delivery
from delivery.outcomes import Verdict, verdict_on
from delivery.recording import Answer, record_and_claim
from subscribers.telegram.outcomes import (
    ChannelError,
)
from tests.delivery.running import turn
from tests.factories import make_delivery

SENT = Verdict(Delivery.Status.SENT, message_id="77")
BOT = 1024


def claimed(broadcast: Broadcast, **facts: Any) -> Claim:
    """A delivery on its way."""
    make_delivery(broadcast, **facts)
    (claim,) = turn(broadcast, is_probe=True)
    return claim


def record(broadcast: Broadcast, *answers: Answer, want: int = 0) -> list[Claim]:
    return record_and_claim(
        broadcast_id=broadcast.pk,
        revision=broadcast.revision,
        bot_id=BOT,
        answers=answers,
        want=want,
        token=uuid4(),
        is_probe=False,
    )


def answered(broadcast: Broadcast, answer: ChannelError | Verdict, *, is_probe: bool = False, **facts: Any) -> Delivery:
    """A delivery, after that answer was recorded."""
    claim = claimed(broadcast, **facts)
    verdict = answer if isinstance(answer, Verdict) else verdict_on(answer, file_id="")
    record(broadcast, Answer(claim, verdict, is_probe))
    broadcast.refresh_from_db()
    return Delivery.objects.select_related("subscriber").get(pk=claim.delivery_id)
