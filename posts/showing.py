"""Whose turn it is: which fundraiser a day shows."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from posts.models import Fundraiser

COOLDOWN_DAYS = 7
# A day's distance of 1 is yesterday: nobody sees the same fundraiser two mornings running.
SHORTEST_COOLDOWN_DAYS = 2


class NothingToShow(Exception):
    """No approved fundraiser may be shown on the day."""


@dataclass(frozen=True)
class Choice:
    """The fundraiser of a day, and the cool-down that could be kept: fewer days than usual where there are too few."""

    fundraiser: Fundraiser
    cooldown_days: int

    @property
    def is_shortened(self) -> bool:
        return self.cooldown_days < COOLDOWN_DAYS


def choose(*, day: date, passing_over: Collection[int] = ()) -> Choice:
    """The fundraiser to show: the one pinned to the day, else the one shown least often, longest ago.

    The same day and data give the same answer, whoever asks. A pin is a person's decision and goes before the
    cool-down, yet never repeats yesterday's fundraiser. `passing_over` are ids that cannot be sent.

    Raises:
        NothingToShow: if none is approved, inside its dates and rested.
    """
    candidates = list(Fundraiser.objects.approved().within_dates(day=day).exclude(pk__in=passing_over))
    for cooldown in range(COOLDOWN_DAYS, SHORTEST_COOLDOWN_DAYS - 1, -1):
        rested = [fundraiser for fundraiser in candidates if _is_rested(fundraiser, day, cooldown)]
        if rested:
            return Choice(min(rested, key=lambda fundraiser: _turn(fundraiser, day)), cooldown)
    raise NothingToShow(f"no approved fundraiser may be shown on {day}")


def shown_on(day: date) -> Fundraiser | None:
    """The fundraiser that went out that day, unless it has been closed, paused or withdrawn since."""
    shown = Fundraiser.objects.approved().filter(last_shown_on=day)
    return shown.prefetch_related("payment_methods").order_by("pk").first()


def _is_rested(fundraiser: Fundraiser, day: date, cooldown: int) -> bool:
    """Whether it is far enough from its last showing, and from the day ahead that it is kept for."""
    last, pinned = fundraiser.last_shown_on, fundraiser.pinned_to
    if pinned == day:
        cooldown = SHORTEST_COOLDOWN_DAYS
    if last is not None and (day - last).days < cooldown:
        return False
    return pinned is None or pinned <= day or (pinned - day).days >= cooldown


def _turn(fundraiser: Fundraiser, day: date) -> tuple[bool, int, date, int, bytes]:
    return (
        fundraiser.pinned_to != day,
        fundraiser.times_shown,
        fundraiser.last_shown_on or date.min,
        -fundraiser.priority,
        hashlib.sha256(f"{day} {fundraiser.pk}".encode()).digest(),
    )
