"""Who listens: subscribers, and the inbox of what Telegram told us."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from subscribers.admin_chats import AdminChat, AdminLink  # noqa: F401 -- Django looks for models here


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

    def undo_gone(self, pks: Iterable[int]) -> None:
        """Take back that Telegram called these chats unreachable; whoever asked us to stop stays off."""
        gone = self.filter(pk__in=pks).exclude(left_reason=Subscriber.LeftReason.STOPPED)
        gone.update(left_at=None, left_reason="")

    def move(self, pk: int, *, to: int, at: datetime) -> None:
        """Follow a group into its supergroup.

        Where that is a subscriber already, this row leaves, and that one stays; if it was off, though not by its own
        wish, it is back, from the next morning on: so the group is not lost, and never gets the same post twice.
        """
        try:
            with transaction.atomic():
                self.filter(pk=pk).update(chat_id=to)
        except IntegrityError:
            if self.active().filter(pk=pk).update(left_at=at, left_reason=Subscriber.LeftReason.UNREACHABLE):
                away = self.filter(chat_id=to).exclude(left_reason__in=["", Subscriber.LeftReason.STOPPED])
                away.update(left_at=None, left_reason="")

    @transaction.atomic
    def follow(self, *, chat_id: int, to: int, at: datetime) -> None:
        """Record that a group told us of its new id.

        Only a member hears of it: whoever left as blocked, because of what came before, is back.
        """
        group = self.select_for_update().filter(chat_id=chat_id).first()
        if group:
            self.bring_back(chat_id=chat_id, at=at)
            self.move(group.pk, to=to, at=at)

    @transaction.atomic
    def subscribe(self, *, chat_id: int, at: datetime, **names: str) -> bool:
        """Take in a chat at its own wish; whoever left for any reason is back.

        `names` are the fields to keep up, cut where they are too long: nobody stays outside for an odd name.

        True for whoever did not get the daily message by their own wish yet, and only then does `started_at` move:
        a /start repeated, or handled twice, changes nothing.
        """
        names = {field: name[: Subscriber.LONGEST[field]] for field, name in names.items()}
        subscriber, is_new = self.get_or_create(chat_id=chat_id, defaults={"joined_at": at, "started_at": at, **names})
        if is_new:
            return True
        same = self.filter(pk=subscriber.pk)
        same.exclude(**names).update(**names)
        away = same.filter(Q(left_at__isnull=False) | Q(started_at=None))
        return bool(away.update(left_at=None, left_reason="", started_at=at))

    def leave(self, *, chat_id: int, reason: str, at: datetime) -> bool:
        """Record that they left; False where that is known. Who asked to stop counts so, whatever came before."""
        staying = self.exclude(left_reason=reason) if reason == Subscriber.LeftReason.STOPPED else self.active()
        return bool(staying.filter(chat_id=chat_id).update(left_at=at, left_reason=reason))

    def bring_back(self, *, chat_id: int, at: datetime) -> bool:
        """Record that they unblocked the bot, where they left by blocking it; whoever left otherwise stays off."""
        blocked = self.filter(chat_id=chat_id, left_reason=Subscriber.LeftReason.BLOCKED)
        return bool(blocked.update(left_at=None, left_reason="", started_at=at))


class Subscriber(models.Model):
    """A chat that gets the daily message: a person, or a group."""

    class LeftReason(models.TextChoices):
        STOPPED = "stopped", _("stopped")  # asked us to stop
        BLOCKED = "blocked", _("blocked")  # blocked the bot
        DEACTIVATED = "deactivated", _("deactivated")  # the account is deleted
        UNREACHABLE = "unreachable", _("unreachable")  # Telegram knows no such chat

    LONGEST = {"username": 64, "first_name": 256, "language": 16}  # characters

    chat_id = models.BigIntegerField(_("chat id"), unique=True)
    username = models.CharField(_("Telegram username"), max_length=LONGEST["username"], blank=True)
    first_name = models.CharField(_("first name"), max_length=LONGEST["first_name"], blank=True)
    language = models.CharField(_("language"), max_length=LONGEST["language"], blank=True)
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
        """In the order in which they came."""
        return self.filter(handled_at=None).order_by("pk")

    def store(self, updates: Iterable[dict[str, Any]], *, bot_id: int, at: datetime) -> None:
        """Keep what Telegram handed out, in one statement; what is kept already stays as it is."""
        rows = [
            InboxUpdate(bot_id=bot_id, update_id=update["update_id"], payload=storable(update), received_at=at)
            for update in updates
        ]
        self.bulk_create(rows, ignore_conflicts=True)

    def mark_handled(self, pks: Iterable[int], *, at: datetime) -> None:
        self.filter(pk__in=pks, handled_at=None).update(handled_at=at)

    def prune(self, *, at: datetime) -> None:
        """Delete what was handled long enough ago: Telegram hands an update out for a day at most."""
        self.filter(handled_at__lt=at - InboxUpdate.KEPT_FOR).delete()


class InboxUpdate(models.Model):
    """One update from Telegram, stored before it is confirmed, so that no kill can lose it."""

    KEPT_FOR = timedelta(days=2)

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


class PollingConflictQuerySet(models.QuerySet["PollingConflict"]):
    def seen(self, *, is_webhook: bool, at: datetime) -> None:
        """Record that Telegram refused us the updates because of somebody else; after a break it counts anew."""
        self.filter(seen_at__lt=at - PollingConflict.FRESH_FOR).delete()
        news = {"seen_at": at, "is_webhook": is_webhook}
        self.update_or_create(pk=1, defaults=news, create_defaults={"since": at, **news})

    def over(self) -> None:
        """Record that polling works again."""
        self.all().delete()

    def another_installation(self, *, at: datetime) -> "PollingConflict | None":
        """The conflict, if it says that somebody else lives on our token, and not only that a restart overlaps."""
        lasts = Q(is_webhook=True) | Q(seen_at__gt=F("since") + PollingConflict.OVERLAP)
        return self.filter(lasts, seen_at__gte=at - PollingConflict.FRESH_FOR).first()


class PollingConflict(models.Model):
    """That Telegram gives our updates to somebody else: one row while it is so, kept up by whoever polls."""

    OVERLAP = timedelta(seconds=90)  # a restarted bot may meet its own last poll for so long
    # Between two of our polls that meet each other's pauses it is a minute at most.
    FRESH_FOR = timedelta(minutes=2)

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    since = models.DateTimeField()
    seen_at = models.DateTimeField()
    is_webhook = models.BooleanField()  # or else another process polls

    objects = PollingConflictQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(name="polling_conflict_is_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return "webhook" if self.is_webhook else "another poller"


def storable(value: Any) -> Any:
    """The same JSON without what PostgreSQL refuses to keep: NUL characters and halves of surrogate pairs."""
    match value:
        case str():
            return value.replace("\0", "").encode(errors="replace").decode()
        case dict():
            return {storable(key): storable(inner) for key, inner in value.items()}
        case list():
            return [storable(inner) for inner in value]
        case _:
            return value
