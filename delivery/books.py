"""The books of one day: what became of every recipient, counted from rows."""

from datetime import date, datetime
from typing import TypedDict

from django.db.models import Count
from django.utils import timezone

from delivery.models import Broadcast, Delivery


class Books(TypedDict):
    date: str
    status: str
    fundraiser: int | None
    recipients: int
    counts: dict[str, int]
    skipped: dict[str, int]
    channels: dict[str, dict[str, str]]
    planned_at: str | None
    first_sent_at: str | None
    finished_at: str | None
    hold_until: str | None
    paused_because: str
    reason: str  # of a pause, a skip, a cancel, an expiry


def books_of(day: date) -> Books | None:
    """The books of the day's broadcast; None where there is none. `recipients` is the sum of `counts`."""
    broadcast = Broadcast.objects.filter(date=day).first()
    if broadcast is None:
        return None
    counts = dict.fromkeys(Delivery.Status.values, 0)
    skipped: dict[str, int] = {}
    # One query: two would see a running broadcast at two moments, and the books would not balance.
    rows = Delivery.objects.to_subscribers().filter(broadcast=broadcast).values_list("status", "reason")
    for status, reason, count in rows.annotate(count=Count("pk")).order_by("status", "reason"):
        counts[status] += count
        if status == Delivery.Status.SKIPPED:
            skipped[reason] = count
    is_paused = broadcast.status == Broadcast.Status.PAUSED
    return {
        "date": day.isoformat(),
        "status": broadcast.status,
        "fundraiser": broadcast.fundraiser_id,
        "recipients": sum(counts.values()),
        "counts": counts,
        "skipped": skipped,
        "channels": {"bluesky": {"status": "off"}, "telegram_channel": {"status": "off"}},
        "planned_at": _local(broadcast.planned_at),
        "first_sent_at": _local(broadcast.first_sent_at),
        "finished_at": _local(broadcast.finished_at),
        "hold_until": _local(broadcast.hold_until),
        "paused_because": broadcast.reason if is_paused else "",
        "reason": broadcast.reason,
    }


def _local(at: datetime | None) -> str | None:
    return None if at is None else timezone.localtime(at).isoformat(timespec="seconds")
