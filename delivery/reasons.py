"""Why something was not sent: rows say it in English, people read it in their language."""

from django.utils.functional import lazy
from django.utils.translation import gettext, gettext_noop

# Of a broadcast that a person stopped, or that waits for one.
PAUSED_BY_HAND = gettext_noop("paused by hand")
CANCELLED_BY_HAND = gettext_noop("cancelled by hand")
LOCKED = gettext_noop("sending is locked")
QUIET_HOUR = gettext_noop("quiet hour")
LATE_START = gettext_noop("not begun in its window")
TEXT_REFUSED = gettext_noop("Telegram refused the text")
PICTURE_REFUSED = gettext_noop("Telegram refused the picture")
TOKEN_REFUSED = gettext_noop("Telegram refused the bot's token")
CHATS_REFUSED = gettext_noop("Telegram refused several chats")
FIRST_CHAT_REFUSED = gettext_noop("Telegram refused the first chat")
WRONG_BOT = gettext_noop("too many chats do not know this bot")
# Of a hold.
FLOODED = gettext_noop("Telegram asks to wait")
OUT_OF_REACH = gettext_noop("Telegram is out of reach")
NO_ANSWERS = gettext_noop("Telegram does not answer")
# Of the lock on sending.
OTHER_BOT = gettext_noop("this database belongs to another bot")
OTHER_ZONE = gettext_noop("TIME_ZONE is another one than before")
RESTORED = gettext_noop("this database was restored from a backup, or moved to another server")
COPY = gettext_noop("another copy of this database has sent since")
ANOTHER = gettext_noop("another installation sends with this bot")
# Of a broadcast that did not go out.
NOTHING_TO_SHOW = gettext_noop("nothing to show")
MISSED = gettext_noop("its hour went by")
SENT_ELSEWHERE = gettext_noop("another copy of this database began it")
DAY_IS_OVER = gettext_noop("its day is over")
OVERTAKEN = gettext_noop("the next day's broadcast came")
# Of one recipient; the sweep writes why a subscriber left.
LEFT = gettext_noop("left")
BLOCKED = gettext_noop("blocked")
DEACTIVATED = gettext_noop("deactivated")
UNREACHABLE = gettext_noop("unreachable")
NOT_STARTED = gettext_noop("not started")
CANCELLED = gettext_noop("cancelled")
EXPIRED = gettext_noop("expired")
CONFIRMED_BY_HAND = gettext_noop("confirmed by hand")
REFUSED_CHAT = gettext_noop("Telegram refused this chat")
NO_ANSWER = gettext_noop("no answer")
NO_ANSWER_RECORDED = gettext_noop("no answer was recorded")
UNFORESEEN = gettext_noop("unforeseen error")

GONE = {BLOCKED, DEACTIVATED, UNREACHABLE, NOT_STARTED}  # what Telegram answered of a chat that is not there for us

KNOWN = {text for name, text in globals().items() if name.isupper() and isinstance(text, str)}


def in_words(reason: str) -> str:
    """The reason in the reader's language. Telegram's own words, after a colon, and a person's stay as they are."""
    known, colon, said = reason.partition(": ")
    return gettext(known) + colon + said if known in KNOWN else reason


# For a log record: in the language of whoever reads it.
in_words_lazily = lazy(in_words, str)
