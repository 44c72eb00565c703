"""A broadcast that runs, and the turns of those who send it."""

from typing import Any
from uuid import uuid4

from delivery import ledger
from delivery.ledger import Claim, Result
from delivery.models import Broadcast, Delivery
from posts import clock
from tests.delivery.morning import MORNING
from tests.factories import make_broadcast, make_delivery


def make_proven(**facts: Any) -> Broadcast:
    """A running broadcast whose first message was accepted: the rest may go."""
    return make_broadcast(**{"status": "sending", "first_sent_at": clock.now()} | facts)


def turn(broadcast: Broadcast, *results: Result, want: int = 10, **facts: Any) -> list[Claim]:
    asked: dict[str, Any] = {"revision": broadcast.revision, "token": uuid4()} | facts
    return ledger.turn(broadcast_id=broadcast.pk, results=results, want=want, **asked)


def sent(claim: Claim) -> Result:
    return Result(claim, Delivery.Status.SENT, message_id="77")


def make_sending(broadcast: Broadcast, **facts: Any) -> Delivery:
    return make_delivery(broadcast, **{"status": "sending", "token": uuid4(), "claimed_at": MORNING} | facts)
