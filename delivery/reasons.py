"""Why something was not sent: rows say it in English, people read it in their language."""

from django.utils.translation import gettext, gettext_noop

# Whoever stores one writes it out; here they stand for the translators.
KNOWN = {
    # of a broadcast
    gettext_noop("paused by hand"),
    gettext_noop("cancelled by hand"),
    gettext_noop("quiet hour"),
    gettext_noop("not begun in its window"),
    gettext_noop("nothing to show"),
    gettext_noop("its hour went by"),
    gettext_noop("the next day's broadcast came"),
    gettext_noop("Telegram refused the text"),
    gettext_noop("Telegram refused the picture"),
    gettext_noop("Telegram refused the bot's token"),
    gettext_noop("Telegram refused several chats"),
    # of one recipient
    gettext_noop("left"),
    gettext_noop("blocked"),
    gettext_noop("deactivated"),
    gettext_noop("unreachable"),
    gettext_noop("not started"),
    gettext_noop("cancelled"),
    gettext_noop("expired"),
    gettext_noop("no answer"),
    gettext_noop("no answer was recorded"),
}


def in_words(reason: str) -> str:
    """The reason in the reader's language. Telegram's own words, after a colon, and a person's stay as they are."""
    known, colon, said = reason.partition(": ")
    return gettext(known) + colon + said if known in KNOWN else reason
