"""Who listens: subscribers, and the inbox of what Telegram told us."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class SubscriberQuerySet(models.QuerySet["Subscriber"]):
    def active(self) -> Self:
        return self.filter(left_at=None)

    def newcomers(self, *, since: datetime) -> Self:
        """People whose own /start, or return, came later than `since`. Imported people and groups never are."""
        return self.active().filter(chat_id__gt=0, started_at__gt=since)

    def mark_gone(self, pk: int, *, reason: str, claimed_at: datetime, at: datetime) -> bool:
        """Record that Telegram called the chat unreachable; False for somebody who (re)subscribed since the claim."""
        stayed = self.active().filter(pk=pk).exclude(started_at__gt=claimed_at)
        return bool(stayed.update(left_at=at, left_reason=reason))


class Subscriber(models.Model):
    """A chat that gets the daily message: a person, or a group."""

    class LeftReason(models.TextChoices):
        STOPPED = "stopped", _("stopped")  # asked us to stop
        BLOCKED = "blocked", _("blocked")  # blocked the bot
        DEACTIVATED = "deactivated", _("deactivated")  # the account is deleted
        UNREACHABLE = "unreachable", _("unreachable")  # Telegram knows no such chat

    chat_id = models.BigIntegerField(_("chat id"), unique=True)
    username = models.CharField(_("username"), max_length=64, blank=True)
    first_name = models.CharField(_("first name"), max_length=256, blank=True)
    language = models.CharField(_("language"), max_length=16, blank=True)
    joined_at = models.DateTimeField(_("joined at"))
    # Their own last /start or return; empty for imported people, who begin the next morning.
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    left_at = models.DateTimeField(_("left at"), null=True, blank=True)
    left_reason = models.CharField(_("why they left"), max_length=12, choices=LeftReason, blank=True)

    objects = SubscriberQuerySet.as_manager()

    class Meta:
        verbose_name = _("subscriber")
        verbose_name_plural = _("subscribers")
        constraints = [
            models.CheckConstraint(name="subscriber_has_a_chat", condition=~Q(chat_id=0)),
            models.CheckConstraint(
                name="subscriber_left_has_reason",
                condition=Q(left_at=None, left_reason="") | (Q(left_at__isnull=False) & ~Q(left_reason="")),
            ),
        ]
        indexes = [
            # The sweep looks for newcomers every minute; nearly nobody is one.
            models.Index(name="subscriber_newcomers", fields=["started_at"], condition=Q(left_at=None)),
        ]

    def __str__(self) -> str:
        return self.username or str(self.chat_id)

    @property
    def is_active(self) -> bool:
        return self.left_at is None


class InboxUpdateQuerySet(models.QuerySet["InboxUpdate"]):
    def unhandled(self) -> Self:
        return self.filter(handled_at=None).order_by("pk")


class InboxUpdate(models.Model):
    """One update from Telegram, stored before it is confirmed, so that no kill can lose it."""

    bot_id = models.BigIntegerField(_("bot id"))
    update_id = models.BigIntegerField(_("update id"))
    payload = models.JSONField(_("payload"))
    received_at = models.DateTimeField(_("received at"))
    handled_at = models.DateTimeField(_("handled at"), null=True)

    objects = InboxUpdateQuerySet.as_manager()

    class Meta:
        verbose_name = _("update")
        verbose_name_plural = _("inbox")
        constraints = [
            models.UniqueConstraint(name="inbox_update_once_per_bot", fields=["bot_id", "update_id"]),
        ]
        indexes = [
            models.Index(name="inbox_update_unhandled", fields=["id"], condition=Q(handled_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.bot_id}/{self.update_id}"
