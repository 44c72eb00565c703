"""The lock on all sending: what this database remembers of its bot, and of what was said about it outside."""

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

# So much of a run may be missing from a copy that nobody can tell from the original: until the next testimony.
TESTIMONY_LASTS = timedelta(seconds=60)


class SendingLock(models.Model):
    """Whether this database may send: one row.

    `number` is a logical clock, raised and committed before each testimony is written outside. A testimony above it
    was written by a copy of this database that has sent since; one of another `home`, by another installation.
    """

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    bot_id = models.BigIntegerField(null=True)  # none until the first look
    is_sandbox = models.BooleanField(default=False)
    home = models.CharField(max_length=8, blank=True)  # which database it is: a restored dump is another one
    time_zone = models.CharField(max_length=64, blank=True)  # whose days count: another has another "today"
    number = models.BigIntegerField(default=0)
    seen_number = models.BigIntegerField(default=0)  # of the newest testimony that tells of somebody else
    witnessed_at = models.DateTimeField(null=True)
    locked_at = models.DateTimeField(_("locked at"), null=True)
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("lock on sending")
        verbose_name_plural = _("lock on sending")
        constraints = [
            models.CheckConstraint(name="sending_lock_is_one_row", condition=Q(id=1)),
            models.CheckConstraint(
                name="sending_lock_locked_has_reason",
                condition=Q(locked_at=None, reason="") | Q(locked_at__isnull=False) & ~Q(reason=""),
            ),
        ]

    def __str__(self) -> str:
        return self.reason

    @classmethod
    def load(cls) -> Self:
        return cls.objects.get_or_create(id=1)[0]

    @classmethod
    def held(cls) -> Self:
        """The row, locked until the transaction ends."""
        cls.load()
        return cls.objects.select_for_update().get()

    @property
    def is_locked(self) -> bool:
        return self.locked_at is not None

    def is_witnessed(self, *, at: datetime) -> bool:
        """Whether it was compared with the outside so lately that a slice may begin without asking again."""
        return self.witnessed_at is not None and self.witnessed_at <= at < self.witnessed_at + TESTIMONY_LASTS
