"""What the page of a day shows, as its template wants it."""

from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from delivery import desk, locks
from delivery.bar import draw_bar
from delivery.desk import Day
from delivery.history import Change
from delivery.models import Delivery
from delivery.telling import tell

LATEST_CHANGES = 6  # of the lock


def panel(day: Day, *, may_act: bool, in_full: bool = False) -> dict[str, Any]:
    """How the day stands and what may be done; `in_full` also with all its unknown messages at once."""
    return {
        "day": day,
        "bar": None if in_full else draw_bar(day.counts),  # the broadcast's own page has it below
        "in_full": in_full,
        "told": tell(day),
        "fundraiser": day.turn or (day.broadcast and day.broadcast.fundraiser),
        "acts": desk.acts(day) if may_act else [],
        "unknown": _unknown(day),
        "unknown_rows": _unknown_rows(day),
        "acts_on_unknown": desk.acts_on_unknown(day) if may_act and in_full else [],
        "locked": locks.in_full(day.lock) if day.lock.is_locked else "",
        "lock_changes": Change.objects.of_the_lock().reverse()[:LATEST_CHANGES][::-1],
        "conflict": _conflict(day),
    }


def _unknown(day: Day) -> str:
    count = day.count(Delivery.Status.UNKNOWN)
    return ngettext("%(count)s is unknown", "%(count)s are unknown", count) % {"count": count} if count else ""


def _unknown_rows(day: Day) -> str:
    where = {"day": "today"} if day.is_today else {"broadcast__id__exact": day.broadcast and day.broadcast.pk}
    return f"{reverse('admin:delivery_delivery_changelist')}?{urlencode(where | {'status__exact': 'unknown'})}"


def _conflict(day: Day) -> str:
    if day.conflict is None:
        return ""
    if day.conflict.is_webhook:
        return _("A webhook is set for this bot: nothing is planned. What to do: remove it, or stop whoever set it.")
    return _("Another installation gets this bot's messages: nothing is planned. What to do: stop the other one.")
