"""The alerts of all processes as rows: what was heard goes in, what is due comes out."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Min
from django.db.models.functions import Greatest

from donate1024.alerts import audience, quiet
from donate1024.alerts.audience import Audience
from donate1024.alerts.models import Alert
from donate1024.alerts.routes import Told
from posts import clock

AT_A_TIME = 10


@dataclass(frozen=True)
class Look:
    """What is to be told now, to whom, whether they hear it, and how long nothing more is due (None: for ever)."""

    due: Alert | None
    audience: Audience
    with_sound: bool
    pause: timedelta | None


@transaction.atomic
def look(heard: Iterable[Alert], told: tuple[Alert, Told] | None) -> Look:
    """Write what was told and heard, and take the next that is due of any process: one, for a lease lasts no longer."""
    if told:
        settle(*told)
    at = clock.now()
    _write(heard, at=at)
    due = _take_due(at=at)
    waiting = Alert.objects.filter(tell_at__isnull=False)
    next_at: datetime | None = waiting.aggregate(at=Min(Greatest(F("tell_at"), F("held_until"))))["at"]
    return Look(due, audience.read(), quiet.may_sound(at=at), next_at - at if next_at else None)


@transaction.atomic
def settle(alert: Alert, outcome: Told) -> None:
    """Record by which route it was told, as it stood then; one that somebody deleted since needs no record."""
    row = Alert.objects.select_for_update().filter(pk=alert.pk).first()
    if row:
        row.settle(alert, route=outcome.route, at=clock.now(), retry_after=outcome.retry_after)
        row.save()


def _write(heard: Iterable[Alert], *, at: datetime) -> None:
    rows = Alert.objects.select_for_update().open()
    for news in sorted(heard, key=lambda news: news.key):  # in one order everywhere: no deadlock
        facts = {"is_condition": news.is_condition, "first_at": news.first_at, "last_at": news.last_at}
        row = rows.get_or_create(key=news.key, defaults=facts)[0] if news.count else rows.filter(key=news.key).first()
        if row:
            row.fold_in(news, at=at)
            row.save()


def _take_due(*, at: datetime) -> Alert | None:
    waiting = Alert.objects.due(at=at).select_for_update(skip_locked=True)
    # What could not be told before goes last: it must not keep the others from being tried.
    for alert in waiting.order_by(F("held_until").asc(nulls_first=True), "tell_at", "pk")[:AT_A_TIME]:
        has_words = alert.claim(at=at)
        alert.save()
        if has_words:
            return alert
    return None
