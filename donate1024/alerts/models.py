"""What went wrong, folded: one row from its first sign to its end, and what people were told of it."""

import re
from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

PERIOD = timedelta(minutes=10)  # one count is told for each
LEASE = timedelta(minutes=1)  # how long whoever tells it keeps it from the others
RETRY_AFTER = timedelta(minutes=1)  # where nobody could be told
FURTHEST = PERIOD + timedelta(minutes=1)  # nobody plans so far ahead: the clock was put back
KEPT_FOR = timedelta(days=90)  # once it is over
LONGEST_KEY = 200  # characters
SENTENCE_ENDS = re.compile(r"(?<=[.!?…])\s+")


class AlertQuerySet(models.QuerySet["Alert"]):
    def open(self) -> Self:
        return self.filter(recovered_at=None)

    def due(self, *, at: datetime) -> Self:
        """Of which something is to be told now, and nobody is telling it."""
        is_free = Q(held_until=None) | Q(held_until__lte=at) | Q(held_until__gt=at + FURTHEST)
        return self.filter(is_free, Q(tell_at__lte=at) | Q(tell_at__gt=at + FURTHEST))

    def prune(self, *, at: datetime) -> None:
        """Delete what ended long ago, and is told."""
        self.filter(recovered_at__lt=at - KEPT_FOR, tell_at=None).delete()


class Alert(models.Model):
    """One thing that went wrong, however often it was logged, by however many processes.

    The same object, never saved, is what a process knows of it while the database is away.
    """

    class Route(models.TextChoices):
        NONE = "", _("nobody yet")
        TELEGRAM = "telegram", "Telegram"
        EMAIL = "email", _("e-mail")

    key = models.CharField(max_length=LONGEST_KEY)  # the condition's name, or where the record comes from
    is_condition = models.BooleanField()  # it ends when that is logged; or else when it has not come for a period
    text = models.TextField(_("what happened"))
    over = models.TextField(blank=True)  # how its end is told; empty: by the beginning of `text`
    technical = models.TextField(_("for the operator"), blank=True)
    count = models.PositiveIntegerField(_("how often"), default=0)
    first_at = models.DateTimeField(_("first"))
    last_at = models.DateTimeField(_("last"))
    recovered_at = models.DateTimeField(_("over since"), null=True)
    told_at = models.DateTimeField(_("told at"), null=True)
    told_count = models.PositiveIntegerField(default=0)
    is_end_told = models.BooleanField(default=False)
    route = models.CharField(_("told by"), max_length=8, choices=Route, blank=True)
    tell_at = models.DateTimeField(null=True)  # when the next thing is to be told; empty: nothing
    held_until = models.DateTimeField(null=True)  # somebody is telling it, or could not

    objects = AlertQuerySet.as_manager()

    class Meta:
        verbose_name = _("alert")
        verbose_name_plural = _("alerts")
        constraints = [
            models.UniqueConstraint(name="alert_open_once_per_key", fields=["key"], condition=Q(recovered_at=None)),
            models.CheckConstraint(
                name="alert_told_has_route",
                condition=Q(told_at=None, route="", told_count=0)
                | Q(told_at__isnull=False, route__in=["telegram", "email"]),
            ),
            models.CheckConstraint(name="alert_told_is_counted", condition=Q(told_count__lte=F("count"))),
            models.CheckConstraint(name="alert_last_is_not_before_first", condition=Q(last_at__gte=F("first_at"))),
        ]
        indexes = [models.Index(name="alert_due", fields=["tell_at"], condition=Q(tell_at__isnull=False))]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """What happened, in one sentence."""
        return SENTENCE_ENDS.split(self.text, maxsplit=1)[0]

    def is_due(self, *, at: datetime) -> bool:
        """As `AlertQuerySet.due`."""
        has_come = [moment <= at or moment > at + FURTHEST for moment in (self.tell_at, self.held_until) if moment]
        return self.tell_at is not None and all(has_come)

    def repeat(self, *, at: datetime) -> None:
        """Count it once more."""
        self.count += 1
        self.last_at = max(self.last_at, at)  # a clock may have been put back
        self.plan(at=at)

    def fold_in(self, news: "Alert", *, at: datetime) -> None:
        """Take in what came since, and what was told of that by a process without a database."""
        if news.count:
            self.text, self.technical = news.text, news.technical
            self.last_at = max(self.last_at, news.last_at)
        self.count += news.count
        self.over = news.over or self.over
        self.recovered_at = news.recovered_at
        self.told_count += news.told_count
        self.told_at = news.told_at or self.told_at
        self.route = news.route or self.route
        self.is_end_told = news.is_end_told
        self.plan(at=at)

    def plan(self, *, at: datetime) -> None:
        """Say when the next thing is to be told: the beginning and the end at once, what comes between each period."""
        if self.count == 0:  # only the end of something of which this process knows no more
            self.tell_at = None
        elif self.told_at is None or (self.recovered_at and not self.is_end_told):
            self.tell_at = at
        elif self.recovered_at is None and (self.count > self.told_count or not self.is_condition):
            self.tell_at = self.told_at + PERIOD
        else:
            self.tell_at = None

    def claim(self, *, at: datetime) -> bool:
        """Keep a due one from the others while it is told. False for what ends without a word: it came only once."""
        has_not_come_again = self.told_at and not self.recovered_at and self.count == self.told_count
        if has_not_come_again:
            self.recovered_at = at
            if self.count == 1:
                self.is_end_told = True
                self.plan(at=at)
                return False
        self.held_until = at + LEASE
        return True

    def settle(self, told: "Alert", *, route: str, at: datetime, retry_after: timedelta = RETRY_AFTER) -> None:
        """Record by which route people were told of it as it stood in `told`; by none: to be tried again."""
        if not route:
            self.held_until = at + retry_after
            return
        # The first telling is of one: how often it came is told with the first count.
        self.told_count = told.count if told.told_at else 1
        self.told_at, self.route, self.held_until = at, route, None
        self.is_end_told = told.recovered_at is not None
        self.plan(at=at)
