"""Who comes while a broadcast is going out."""

from datetime import datetime
from typing import Any

from delivery.models import Broadcast
from subscribers.models import Subscriber
from tests.delivery.morning import DAY, MORNING
from tests.factories import make_broadcast, make_subscriber


def make_todays(**facts: Any) -> Broadcast:
    return make_broadcast(**{"date": DAY, "status": "sending", "planned_at": MORNING} | facts)


def make_starter(at: datetime, **facts: Any) -> Subscriber:
    """Somebody whose own /start came at that moment."""
    return make_subscriber(started_at=at, **facts)
