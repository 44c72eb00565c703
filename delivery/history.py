"""Who changed what of a broadcast, when and why: written with the change, never edited."""

from typing import Self

from django.db import models
from django.utils.translation import gettext, gettext_lazy as _, gettext_noop

from delivery import reasons
from posts import clock

COMMAND_LINE = gettext_noop("command line")  # whoever sits at it


class ChangeQuerySet(models.QuerySet["Change"]):
    def of_the_lock(self) -> Self:
        return self.filter(what__in=[Change.What.LOCKED, Change.What.UNLOCKED])


class Change(models.Model):
    """One change of a broadcast's state, or of the lock on all sending."""

    class What(models.TextChoices):
        PLANNED = "planned", _("planned")
        PAUSED = "paused", _("paused")
        RESUMED = "resumed", _("resumed")
        CANCELLED = "cancelled", _("cancelled")
        SKIPPED = "skipped", _("skipped")
        UNSKIPPED = "unskipped", _("skip taken back")
        EXPIRED = "expired", _("expired")
        FINISHED = "finished", _("finished")
        REFROZEN = "refrozen", _("message taken anew")  # from the mended fundraiser
        ARRIVED = "arrived", _("said to have arrived")  # messages of which nobody knew
        SENT_AGAIN = "sent_again", _("sent again knowingly")  # those too
        LOCKED = "locked", _("locked")
        UNLOCKED = "unlocked", _("unlocked")

    broadcast = models.ForeignKey(  # none: of the lock, or of a skip that was taken back
        "delivery.Broadcast", models.SET_NULL, null=True, related_name="changes", verbose_name=_("broadcast")
    )
    at = models.DateTimeField(_("at"), default=clock.now)
    by = models.CharField(_("by"), max_length=150, blank=True)  # a person; empty: the machine itself
    what = models.CharField(_("what"), max_length=12, choices=What)
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    objects = ChangeQuerySet.as_manager()

    class Meta:
        verbose_name = _("change")
        verbose_name_plural = _("changes")
        ordering = ("at", "pk")

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.what}"

    @property
    def by_whom(self) -> str:
        """For people: a name stays as it is."""
        if not self.by:
            return gettext("automatically")
        return gettext(COMMAND_LINE) if self.by == COMMAND_LINE else self.by

    @property
    def why(self) -> str:
        """The reason in the reader's language."""
        return reasons.in_words(self.reason)


def note(what: Change.What, *, broadcast_id: int | None, by: str = "", reason: str = "") -> None:
    """Write the change down; call it in the transaction of the change."""
    Change.objects.create(broadcast_id=broadcast_id, by=by, what=what, reason=reason[:200])
