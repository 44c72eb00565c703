"""Rows with the fewest valid facts; a test names only what it is about."""

import io
from itertools import count
from typing import Any

from PIL import Image

from posts import pictures
from posts.models import Fundraiser, PaymentMethod, Picture
from posts.rails import Rail

_numbers = count(1)


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
