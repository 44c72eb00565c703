"""Rows with the fewest valid facts; a test names only what it is about."""

import io
from datetime import UTC, date, datetime
from itertools import count
from typing import Any

from PIL import Image

from delivery.models import Broadcast, DailySchedule, Delivery
from posts import pictures
from posts.models import Fundraiser, PaymentMethod, Picture
from posts.rails import Rail
from subscribers.models import Subscriber

_numbers = count(1)
LONG_AGO, FAR_AHEAD = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def make_fundraiser(*, link: str = "", **facts: Any) -> Fundraiser:
    """An approved fundraiser with one way to pay: `link`, else a monobank jar of its own."""
    number = next(_numbers)
    defaults = {"title": f"Збір {number}", "text": "Потрібна допомога.", "status": Fundraiser.Status.APPROVED}
    fundraiser = Fundraiser.objects.create(**defaults | facts)
    PaymentMethod.objects.create(
        fundraiser=fundraiser, rail=Rail.MONOBANK, link=link or f"https://send.monobank.ua/jar/SANDBOX{number:03}"
    )
    return fundraiser


def make_picture(*, color: str = "navy") -> Picture:
    """A stored picture; another colour is another picture."""
    picture = pictures.prepare(image_bytes(color=color))
    pictures.store(picture)
    return picture


def image_bytes(*, color: str = "navy", size: tuple[int, int] = (40, 30), kind: str = "PNG", **options: Any) -> bytes:
    """An image file as somebody uploads it."""
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, kind, **options)
    return out.getvalue()


def make_subscriber(**facts: Any) -> Subscriber:
    """A person who joined long ago; with `left_reason` they have left by now."""
    left = {"left_at": LONG_AGO} if facts.get("left_reason") else {}
    return Subscriber.objects.create(**{"chat_id": 1000 + next(_numbers), "joined_at": LONG_AGO} | left | facts)


def make_schedule(**facts: Any) -> DailySchedule:
    """The schedule, 08:00 every day, switched on in the night to 2026-03-29."""
    since = datetime(2026, 3, 28, 22, tzinfo=UTC)
    return DailySchedule.objects.create(**{"is_enabled": True, "effective_from": since} | facts)


def make_broadcast(**facts: Any) -> Broadcast:
    """A broadcast as it is planned, without recipients, which may run as long as it likes."""
    if "fundraiser" not in facts:
        facts["fundraiser"] = make_fundraiser()
    message = {"text": "Збір", "buttons": [[{"text": "Підтримати", "url": "https://send.monobank.ua/jar/SANDBOX1"}]]}
    defaults = {"date": date(2026, 3, 29), "planned_at": LONG_AGO, "run_until": FAR_AHEAD} | message
    return Broadcast.objects.create(**defaults | facts)


def make_delivery(broadcast: Broadcast, **facts: Any) -> Delivery:
    """A pending delivery, to a subscriber of its own."""
    subscriber = facts.pop("subscriber", None) or make_subscriber()
    return Delivery.objects.create(**{"broadcast": broadcast, "subscriber": subscriber, "not_before": LONG_AGO} | facts)
