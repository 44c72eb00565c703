"""What an unsuccessful call to Telegram means: was anything sent, and whose fault was it."""

from datetime import timedelta
from typing import cast

from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter, TelegramError

from posts.redaction import redact
from subscribers.models import Subscriber, storable
from subscribers.telegram.transport import NeverSent

Reason = Subscriber.LeftReason

# Telegram's descriptions, in lower case: the library strips and capitalises them. The first that occurs counts.
_LEFT = {
    "blocked by the user": Reason.BLOCKED,
    "user is deactivated": Reason.DEACTIVATED,
    "kicked": Reason.BLOCKED,
    "not a member": Reason.BLOCKED,
    "chat was deleted": Reason.UNREACHABLE,
}
LONGEST = 200  # characters: the columns that keep what Telegram says
_NO_SUCH_CHAT = "chat not found"
_NO_SUCH_FILE = ("wrong file identifier", "wrong remote file", "wrong file_id", "file_reference_", "file_id_invalid")
_BAD_CONTENT = (
    "can't parse",
    "too long",
    "too_long",
    "text is empty",
    "must be non-empty",
    "button",  # "Inline keyboard button URL '...' is invalid", BUTTON_URL_INVALID, BUTTON_DATA_INVALID
    "entity_bounds_invalid",
    "photo_invalid_dimensions",
    "image_process_failed",
    "wrong type of the web page content",
    "webpage_",
)


def fitting(said: str) -> str:
    """What Telegram said, fit to be stored: what a column refuses would take the rest of its statement along."""
    return cast("str", storable(said))[:LONGEST]


class ChannelError(Exception):
    """A call that was not answered with success; `str()` is Telegram's own description, fit to be stored."""

    def __init__(self, message: str) -> None:
        super().__init__(fitting(redact(message)))


class RecipientGone(ChannelError):
    """Not sent: nobody can be written to in this chat.

    `left_reason` is a `Subscriber.LeftReason`, or empty where the answer says nothing lasting about the subscriber
    ("bot can't initiate conversation with a user", or words we do not know): then nobody may be deactivated for it.
    """

    def __init__(self, message: str, *, left_reason: str) -> None:
        super().__init__(message)
        self.left_reason = left_reason


class ChatMoved(ChannelError):
    """Not sent: the group became a supergroup, with another id."""

    def __init__(self, message: str, *, new_id: int) -> None:
        super().__init__(message)
        self.new_id = new_id


class ContentRefused(ChannelError):
    """Not sent: the text, the buttons or the picture are wrong, for everybody."""


class FileUnknown(ChannelError):
    """Not sent: this bot has no such `file_id`."""


class ChatRefused(ChannelError):
    """Not sent: this chat does not allow it (no right to send photos, for example)."""


class Flooded(ChannelError):
    """Not sent: nobody may be written to for `wait`."""

    def __init__(self, message: str, *, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait


class TokenRefused(ChannelError):
    """Not sent: Telegram does not know this bot."""


class NotSent(ChannelError):
    """The request never left us."""


class OutcomeUnknown(ChannelError):
    """Perhaps sent, perhaps not: it may not be repeated by itself."""


def as_channel_error(error: TelegramError) -> ChannelError:
    """Translate the library's error; whatever nobody foresaw is `OutcomeUnknown`.

    The table is in docs/architecture.md; each of its rows has a test.
    """
    if isinstance(error.__cause__, TelegramError):  # the body could not be read: it was not Telegram who answered
        return OutcomeUnknown(error.message.partition(". Parsing")[0])
    match error:
        case RetryAfter():  # a timedelta, since donate1024/__init__.py sets PTB_TIMEDELTA
            return Flooded(error.message, wait=cast("timedelta", error.retry_after))
        case ChatMigrated(new_chat_id=new_id):
            return ChatMoved("the group became a supergroup", new_id=new_id)
        case InvalidToken():  # both 401 and 404
            return TokenRefused(error.message)
        case Forbidden():
            return RecipientGone(error.message, left_reason=_left_reason(error.message.lower()))
        case BadRequest():  # a NetworkError in this library: keep it above the rest
            return _refused(error.message)
        case _ if isinstance(error.__cause__, NeverSent):
            return NotSent(error.message)
        case _:
            return OutcomeUnknown(error.message)


def _left_reason(description: str) -> str:
    return next((reason for words, reason in _LEFT.items() if words in description), "")


def _refused(message: str) -> ChannelError:
    description = message.lower()
    if _NO_SUCH_CHAT in description:
        return RecipientGone(message, left_reason=Reason.UNREACHABLE)
    if any(words in description for words in _NO_SUCH_FILE):
        return FileUnknown(message)
    if any(words in description for words in _BAD_CONTENT):
        return ContentRefused(message)
    return ChatRefused(message)
