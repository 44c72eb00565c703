"""A paused broadcast whose fundraiser is mended."""

from typing import Any

from delivery import freezing, reasons
from delivery.models import Broadcast
from posts import clock
from posts.models import Fundraiser
from tests.factories import make_broadcast


def make_paused(**facts: Any) -> Broadcast:
    today = clock.local_date(clock.now())
    return make_broadcast(**{"date": today, "status": "paused", "reason": reasons.TEXT_REFUSED} | facts)


def mend(broadcast: Broadcast, **facts: Any) -> None:
    assert broadcast.fundraiser
    Fundraiser.objects.filter(pk=broadcast.fundraiser.pk).update(**{"title": "Виправлено"} | facts)


def refreeze(broadcast: Broadcast) -> None:
    freezing.refreeze(broadcast, by="Ольга")
