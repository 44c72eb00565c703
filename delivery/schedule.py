"""When the day's broadcast begins: the one row that the curator edits."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Case, ExpressionWrapper, F, Q, Value, When
from django.utils.translation import gettext_lazy as _

from posts import clock

FIRES = ("send_at", "is_enabled")  # what decides whether an hour fires


class DailyScheduleQuerySet(models.QuerySet["DailySchedule"]):
    def update(self, **facts: Any) -> int:
        """Change it; where the hour or the switch becomes another, only hours from this moment on count.

        Whoever names `effective_from` decides that alone.
        """
        fires = {name: facts[name] for name in FIRES if name in facts}
        if fires and "effective_from" not in facts:
            facts["effective_from"] = Case(When(~Q(**fires), then=Value(clock.now())), default=F("effective_from"))
        return super().update(**facts)


class DailySchedule(models.Model):
    """When the day's broadcast begins, and how late it may run: one row, edited by the curator."""

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    send_at = models.TimeField(
        _("sending begins at"),
        default=time(8),
        help_text=_(
            "At 09:00 the country keeps its minute of silence. An hour that has passed when you save begins tomorrow."
        ),
    )
    latest_after = models.DurationField(
        _("latest start after"),
        default=timedelta(minutes=120),
        help_text=_(
            "Hours:minutes:seconds. If something was in the way, sending may still begin so much later. Made longer "
            "after a missed morning, it sends within a minute."
        ),
    )
    quiet_from = models.TimeField(
        _("quiet from"),
        default=time(22),
        help_text=_("What has not gone out by then waits for your decision. A broadcast under way keeps its hours."),
    )
    report_at = models.TimeField(_("report at"), default=time(20))
    is_enabled = models.BooleanField(
        _("send every day"), default=False, help_text=_("Switched off, nothing goes out by itself.")
    )
    # Only hours after it count, so that a changed hour never fires at the save.
    effective_from = models.DateTimeField(_("counts from"), editable=False)

    objects = DailyScheduleQuerySet.as_manager()

    class Meta:
        verbose_name = _("daily schedule")
        verbose_name_plural = _("daily schedule")
        constraints = [
            models.CheckConstraint(name="daily_schedule_is_one_row", condition=Q(id=1)),
            models.CheckConstraint(
                name="daily_schedule_lateness_is_positive",
                condition=Q(latest_after__gt=timedelta(0)) & Q(latest_after__lt=timedelta(days=1)),
            ),
            models.CheckConstraint(
                name="daily_schedule_starts_before_quiet",
                # In PostgreSQL a time of day wraps at midnight: the second condition refuses that.
                condition=Q(quiet_from__gt=ExpressionWrapper(F("send_at") + F("latest_after"), models.TimeField()))
                & Q(send_at__lt=ExpressionWrapper(F("send_at") + F("latest_after"), models.TimeField())),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.send_at:%H:%M}"

    @transaction.atomic
    def save(self, *, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        """Store it, by the rule of `update`: what this instance knows of `effective_from` may be old."""
        written = set(FIRES if update_fields is None else update_fields)
        if stored := DailySchedule.objects.select_for_update().filter(pk=self.pk).first():
            is_other = any(getattr(self, name) != getattr(stored, name) for name in written.intersection(FIRES))
            self.effective_from = clock.now() if is_other else stored.effective_from
        super().save(update_fields=None if update_fields is None else {*written, "effective_from"}, **options)

    @classmethod
    def load(cls) -> "DailySchedule":
        """The schedule; made with its defaults, switched off, where there is none yet."""
        return cls.objects.get_or_create(id=1, defaults={"effective_from": clock.now()})[0]

    def hour_on(self, day: date) -> datetime:
        """The moment at which that day's broadcast is due."""
        return clock.local_moment(day, self.send_at)

    def latest_start_on(self, day: date) -> datetime:
        return self.hour_on(day) + self.latest_after

    def quiet_hour_on(self, day: date) -> datetime:
        return clock.local_moment(day, self.quiet_from)

    def is_due(self, *, at: datetime) -> bool:
        """Whether today's hour counts, has come, and is not past its latest start."""
        day = clock.local_date(at)
        return self._counts(day) and self.hour_on(day) <= at <= self.latest_start_on(day)

    def is_missed(self, day: date, *, at: datetime) -> bool:
        """Whether that day's hour counts and its latest start has passed."""
        return self._counts(day) and at > self.latest_start_on(day)

    def _counts(self, day: date) -> bool:
        return self.is_enabled and self.hour_on(day) >= self.effective_from

    def clean(self) -> None:
        start = timedelta(hours=self.send_at.hour, minutes=self.send_at.minute, seconds=self.send_at.second)
        quiet = timedelta(hours=self.quiet_from.hour, minutes=self.quiet_from.minute, seconds=self.quiet_from.second)
        if start + self.latest_after >= quiet:
            raise ValidationError(
                {"quiet_from": _("Sending may begin until the quiet hour: choose a later quiet hour.")}
            )
