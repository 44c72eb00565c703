"""The chats of the people who run this, and the one-time links that make a chat one of them."""

import hashlib
import logging
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _, gettext_noop

logger = logging.getLogger(__name__)

LINK_LASTS = timedelta(hours=24)
LONGEST_NAME = 256  # characters

CONDITION = "admin chats"
NOBODY_LEFT = gettext_noop(
    "The last admin chat has removed the bot. Nobody is told in Telegram when something goes wrong. What to do: ask "
    "whoever keeps the machine for a new link, and open it in Telegram (`manage.py link_chat` prints one)."
)
ONE_LOST = gettext_noop(
    "An admin chat has removed the bot. What goes wrong is told to the others only, if they still have the bot. What "
    "to do: press “Send a trial alert” on the desk and see whether it comes; then link another chat, or let the bot "
    "into the old one again (`manage.py link_chat` prints a link)."
)


class Role(models.TextChoices):
    CURATOR = "curator", _("curator")  # writes and approves
    OPERATOR = "operator", _("operator")  # keeps the machine; gets one more technical line


class AdminChat(models.Model):
    """A linked chat, a person's or a group: it gets every alert, and may keep the witness."""

    chat_id = models.BigIntegerField(_("chat id"), unique=True)
    role = models.CharField(_("role"), max_length=8, choices=Role)
    name = models.CharField(_("name of the chat"), max_length=LONGEST_NAME, blank=True)
    linked_at = models.DateTimeField(_("linked at"))

    class Meta:
        verbose_name = _("admin chat")
        verbose_name_plural = _("admin chats")
        constraints = [
            models.CheckConstraint(name="admin_chat_has_a_chat", condition=~Q(chat_id=0)),
            models.CheckConstraint(name="admin_chat_has_a_role", condition=Q(role__in=Role.values)),
        ]

    def __str__(self) -> str:
        return self.name or str(self.chat_id)


class AdminLink(models.Model):
    """The newest one-time link of a role; what opens it is known only to whoever was given it."""

    role = models.CharField(primary_key=True, max_length=8, choices=Role)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256: the payload has 128 random bits
    expires_at = models.DateTimeField()
    opened_by = models.BigIntegerField(null=True)  # the chat id

    class Meta:
        constraints = [models.CheckConstraint(name="admin_link_has_a_role", condition=Q(role__in=Role.values))]

    def __str__(self) -> str:
        return self.role


def chat_ids() -> list[int]:
    """Every admin chat once: those of TELEGRAM_ADMIN_CHATS, then the linked ones, the oldest first."""
    linked = AdminChat.objects.order_by("linked_at", "pk").values_list("chat_id", flat=True)
    return list(dict.fromkeys([*settings.TELEGRAM_ADMIN_CHATS, *linked]))


def operators() -> set[int]:
    """Those of `chat_ids` whose alerts carry a technical line: all of TELEGRAM_ADMIN_CHATS, and who is linked so."""
    linked = AdminChat.objects.filter(role=Role.OPERATOR).values_list("chat_id", flat=True)
    return {*settings.TELEGRAM_ADMIN_CHATS, *linked}


def make_link(role: Role, *, at: datetime) -> str:
    """The payload of a new link, good once and for a day; the role's older one, if nobody opened it, opens nothing."""
    payload = secrets.token_urlsafe(16)
    news = {"digest": _digest(payload), "expires_at": at + LINK_LASTS, "opened_by": None}
    AdminLink.objects.update_or_create(role=role, defaults=news)
    return payload


@transaction.atomic
def open_link(payload: str, *, chat_id: int, name: str, at: datetime) -> Role | None:
    """Make the chat an admin chat, and tell its role; None for a payload that is unknown, expired or was used.

    Of several who open it at once one is let in. The same chat's opening, handled twice, is answered twice.
    """
    links = AdminLink.objects.filter(digest=_digest(payload))
    if links.filter(opened_by=None, expires_at__gt=at).update(opened_by=chat_id):
        news = {"role": links.get().role, "name": name[:LONGEST_NAME]}
        AdminChat.objects.update_or_create(chat_id=chat_id, defaults=news, create_defaults={"linked_at": at, **news})
        logger.info("A chat was linked as an admin chat", extra={"closes": CONDITION})
    opened = links.filter(opened_by=chat_id).first()
    is_linked = opened and AdminChat.objects.filter(chat_id=chat_id, role=opened.role).exists()
    return Role(opened.role) if opened and is_linked else None


def unlink(chat_id: int) -> bool:
    """Take the chat off; False where it was none of the linked ones."""
    return bool(AdminChat.objects.filter(chat_id=chat_id).delete()[0])


def lose(chat_id: int) -> None:
    """Take off a chat in which the bot is not any more; that fewer people are told from now on must be told."""
    of_settings = set(settings.TELEGRAM_ADMIN_CHATS)
    with transaction.atomic():
        was_linked = unlink(chat_id)
        left = set(chat_ids()) - {chat_id}
    if not left and (was_linked or chat_id in of_settings):
        logger.error(NOBODY_LEFT, extra={"opens": CONDITION})
    elif chat_id in of_settings or (was_linked and left <= of_settings):  # those may be gone, and nobody linked is left
        logger.error(ONE_LOST, extra={"opens": CONDITION})


def regain(chat_id: int) -> None:
    """Take note that the bot is again in a chat; one of TELEGRAM_ADMIN_CHATS is told of everything once more."""
    if chat_id in settings.TELEGRAM_ADMIN_CHATS:
        logger.info("A chat of the settings has the bot again", extra={"closes": CONDITION})


def follow(*, chat_id: int, to: int) -> None:
    """Keep a group that became a supergroup with another id; where that is linked already, it stays as it is."""
    old = AdminChat.objects.filter(chat_id=chat_id)
    try:
        with transaction.atomic():
            old.update(chat_id=to)
    except IntegrityError:
        old.delete()


def _digest(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()
