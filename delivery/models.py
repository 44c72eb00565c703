"""How it goes out: the day's broadcast, and one row for each recipient's message."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from delivery.history import Change
from delivery.schedule import DailySchedule
from delivery.sending_lock import SendingLock
from posts import clock
from posts.models import Fundraiser, Picture
from subscribers.models import Subscriber

# Django looks for models in this file; those that stand alone have one of their own.
__all__ = ["Broadcast", "Change", "DailySchedule", "Delivery", "SenderSlot", "SendingLock", "UploadedPicture"]


class BroadcastQuerySet(models.QuerySet["Broadcast"]):
    def running(self) -> Self:
        return self.filter(status__in=Broadcast.RUNNING)

    def unfinished(self) -> Self:
        return self.filter(status__in=[*Broadcast.RUNNING, Broadcast.Status.PAUSED])

    def with_pending(self) -> Self:
        return self.filter(Exists(Delivery.objects.pending().filter(broadcast=OuterRef("pk"))))


class Broadcast(models.Model):
    """The fundraiser of one day on its way to everybody, its message frozen when it was planned."""

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")  # recorded with all its deliveries, nothing sent yet
        SENDING = "sending", _("sending")  # going out
        PAUSED = "paused", _("paused")  # waits for a person
        FINISHED = "finished", _("finished")  # nothing pending, nothing in flight
        CANCELLED = "cancelled", _("cancelled")  # stopped for good by a person
        EXPIRED = "expired", _("expired")  # its day or its hour went by
        SKIPPED = "skipped", _("skipped")  # a person took this date off

    RUNNING = (Status.PLANNED, Status.SENDING)

    date = models.DateField(_("date"), unique=True)
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.PLANNED)
    fundraiser = models.ForeignKey(
        Fundraiser, models.PROTECT, null=True, related_name="+", verbose_name=_("fundraiser")
    )
    revision = models.PositiveSmallIntegerField(_("revision"), default=1)
    text = models.TextField(_("text"), blank=True)  # Telegram's HTML
    buttons = models.JSONField(_("buttons"), default=list)  # rows of the Bot API's InlineKeyboardButton
    picture = models.ForeignKey(Picture, models.PROTECT, null=True, related_name="+", verbose_name=_("picture"))
    planned_at = models.DateTimeField(_("planned at"), null=True)
    first_sent_at = models.DateTimeField(_("first sent at"), null=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)
    # The latest start, where the schedule started it: no first message goes after it without a person.
    begin_until = models.DateTimeField(_("begins until"), null=True)
    # The quiet hour, or midnight where a person started or resumed it: nothing is claimed after it.
    run_until = models.DateTimeField(_("runs until"), null=True)
    # Nobody is written to before it; after it one probe, and only its success clears the hold.
    hold_until = models.DateTimeField(_("on hold until"), null=True)
    # How many holds came since a message was accepted: each one waits longer.
    holds_in_a_row = models.PositiveSmallIntegerField(default=0)
    # A person said that all those chats are really gone, and that the bot is the right one.
    gone_confirmed = models.BooleanField(default=False)
    # Taken by whoever sends the one message that shows whether the rest may go.
    probe_until = models.DateTimeField(_("probing until"), null=True)
    reason = models.CharField(_("reason"), max_length=200, blank=True)  # of a hold, a pause, a skip, an expiry

    objects = BroadcastQuerySet.as_manager()

    class Meta:
        verbose_name = _("broadcast")
        verbose_name_plural = _("broadcasts")
        constraints = [
            models.CheckConstraint(
                name="broadcast_status_is_known",
                condition=Q(status__in=["planned", "sending", "paused", "finished", "cancelled", "expired", "skipped"]),
            ),
            models.CheckConstraint(
                name="broadcast_that_goes_out_is_frozen",
                condition=Q(status__in=["expired", "skipped"])
                | Q(fundraiser__isnull=False, planned_at__isnull=False, run_until__isnull=False) & ~Q(text=""),
            ),
            models.CheckConstraint(
                name="broadcast_stop_has_reason",
                condition=~Q(status__in=["paused", "expired", "skipped"]) | ~Q(reason=""),
            ),
            models.CheckConstraint(
                name="broadcast_finished_has_time", condition=~Q(status="finished") | Q(finished_at__isnull=False)
            ),
            models.CheckConstraint(name="broadcast_revision_counts_from_one", condition=Q(revision__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.date:%Y-%m-%d}"

    @property
    def is_free(self) -> bool:
        """Whether its day was missed with nothing planned on it: a person may still decide what to do with it."""
        return self.status == Broadcast.Status.EXPIRED and self.fundraiser_id is None


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def to_subscribers(self) -> Self:
        return self.filter(subscriber__isnull=False)

    def pending(self) -> Self:
        return self.filter(status=Delivery.Status.PENDING)

    def unknown(self) -> Self:
        return self.filter(status=Delivery.Status.UNKNOWN)

    def skipped(self) -> Self:
        return self.filter(status=Delivery.Status.SKIPPED)

    def answered(self) -> Self:
        """What a call settled, or may have."""
        return self.filter(claimed_at__isnull=False, settled_at__isnull=False)

    def not_out(self) -> Self:
        """What nobody got: of the others it is known, or not known, that somebody did."""
        nobodys = [Delivery.Status.PENDING, Delivery.Status.SKIPPED, Delivery.Status.FAILED]
        return self.filter(status__in=nobodys, perhaps_out=False)

    def skip(self, *, reason: str, at: datetime) -> None:
        """Close what will not be sent; what may be out already stays unknown."""
        closed = Case(
            When(perhaps_out=True, then=Value(Delivery.Status.UNKNOWN)), default=Value(Delivery.Status.SKIPPED)
        )
        self.update(status=closed, reason=reason, settled_at=at)

    def open(self) -> Self:
        return self.filter(status__in=[Delivery.Status.PENDING, Delivery.Status.SENDING])


class Delivery(models.Model):
    """One message of a broadcast to one recipient: the record of what happened to it."""

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")  # not tried, or known not to have been sent
        SENDING = "sending", _("sending")  # marked before the call: from here on it may have been sent
        SENT = "sent", _("sent")  # Telegram answered with the message's id
        SKIPPED = "skipped", _("skipped")  # not sent, and nobody's fault: see `reason`
        FAILED = "failed", _("failed")  # refused for good: see `reason`
        UNKNOWN = "unknown", _("unknown")  # perhaps sent; never sent again by itself

    class Channel(models.TextChoices):
        TELEGRAM = "telegram", "Telegram"

    broadcast = models.ForeignKey(
        Broadcast, models.PROTECT, db_index=False, related_name="deliveries", verbose_name=_("broadcast")
    )
    channel = models.CharField(_("channel"), max_length=16, choices=Channel, default=Channel.TELEGRAM)
    subscriber = models.ForeignKey(
        Subscriber,
        models.PROTECT,
        null=True,
        db_index=False,
        related_name="deliveries",
        verbose_name=_("subscriber"),
    )
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.PENDING)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    revision = models.PositiveSmallIntegerField(_("revision"), default=1)  # of the text that was, or will be, sent
    # A person had it sent again while nobody knew of the first call: what may be out is never called skipped or failed.
    perhaps_out = models.BooleanField(default=False, db_default=False)
    not_before = models.DateTimeField(_("not before"), db_default=Now())
    token = models.UUIDField(_("claim"), null=True)  # whose result may be written: a new one at each claim
    claimed_at = models.DateTimeField(_("claimed at"), null=True)
    settled_at = models.DateTimeField(_("settled at"), null=True)
    message_id = models.CharField(_("message id"), max_length=200, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        constraints = [
            models.CheckConstraint(
                name="delivery_status_is_known",
                condition=Q(status__in=["pending", "sending", "sent", "skipped", "failed", "unknown"]),
            ),
            models.UniqueConstraint(name="delivery_once_per_subscriber", fields=["broadcast", "channel", "subscriber"]),
            # NULLs are distinct: without this, two rows for one public channel would fit.
            models.UniqueConstraint(
                name="delivery_once_per_public_channel",
                fields=["broadcast", "channel"],
                condition=Q(subscriber=None),
            ),
            models.CheckConstraint(
                name="delivery_sent_has_message_id_or_reason",
                condition=~Q(status="sent") | ~Q(message_id="") | ~Q(reason=""),
            ),
            models.CheckConstraint(
                name="delivery_sending_has_claim",
                condition=~Q(status="sending") | Q(token__isnull=False, claimed_at__isnull=False),
            ),
            models.CheckConstraint(
                name="delivery_not_sent_has_reason",
                condition=~Q(status__in=["skipped", "failed", "unknown"]) | ~Q(reason=""),
            ),
        ]
        indexes = [
            # What the claim walks, in the order in which it walks it.
            models.Index(name="delivery_due", fields=["broadcast", "not_before"], condition=Q(status="pending")),
            models.Index(name="delivery_in_flight", fields=["claimed_at"], condition=Q(status="sending")),
            # Nearly none, and the ones that people look at.
            models.Index(name="delivery_unknown", fields=["broadcast"], condition=Q(status="unknown")),
            # What the last calls brought: many of them gone are a sign of the wrong bot.
            models.Index(
                name="delivery_answered",
                fields=["broadcast", "settled_at"],
                condition=Q(claimed_at__isnull=False, settled_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.broadcast_id}/{self.pk}"


class SenderSlot(models.Model):
    """The right to run one slice: as many rows as slices may run at a time."""

    number = models.PositiveSmallIntegerField(primary_key=True)
    busy_until = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.number)


class UploadedPicture(models.Model):
    """The handle under which Telegram keeps a picture for one bot."""

    bot_id = models.BigIntegerField()
    picture = models.ForeignKey(Picture, models.CASCADE, related_name="+")
    file_id = models.CharField(max_length=200)
    uploaded_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="picture_uploaded_once_per_bot", fields=["bot_id", "picture"]),
        ]

    def __str__(self) -> str:
        return f"{self.bot_id}/{self.picture_id}"
