"""What a person can do about the reason why something was not sent, in a curator's words."""

from django.utils.functional import lazy
from django.utils.translation import gettext, gettext_noop

from delivery import reasons

_BY_ITSELF = gettext_noop("There is nothing to do: one message tries, then the rest follow.")
_MEND = gettext_noop("If nobody has it yet: mend the fundraiser, take the mended text, resume. Otherwise cancel.")
_LOOK = gettext_noop("Look at the deliveries that failed. If it is those chats alone, resume; otherwise cancel.")

WHAT_TO_DO = {
    reasons.PAUSED_BY_HAND: gettext_noop("Resume it whenever you like today; left alone it ends at midnight."),
    reasons.LOCKED: gettext_noop("If people have today's message from another copy, cancel it; otherwise resume."),
    reasons.QUIET_HOUR: gettext_noop(
        "Resume, and it goes on until midnight. Left alone it ends, and the rest miss it."
    ),
    reasons.LATE_START: gettext_noop(
        "Nobody has it yet. Resume, if it should still go; left alone it ends at midnight."
    ),
    reasons.TEXT_REFUSED: _MEND,
    reasons.PICTURE_REFUSED: _MEND,
    reasons.TOKEN_REFUSED: gettext_noop(
        "Put the right token into the settings, restart, then resume. Nobody was unsubscribed."
    ),
    reasons.CHATS_REFUSED: _LOOK,
    reasons.FIRST_CHAT_REFUSED: _LOOK,
    reasons.WRONG_BOT: gettext_noop(
        "Nobody was unsubscribed. If the bot in the settings is not the one that people know, put its token there and "
        "restart. If it is, resume: whoever is gone is then taken off the list."
    ),
    reasons.FLOODED: _BY_ITSELF,
    reasons.OUT_OF_REACH: _BY_ITSELF,
    reasons.NO_ANSWERS: _BY_ITSELF,
    reasons.UNFORESEEN: _BY_ITSELF,
    reasons.MISSED: gettext_noop("Send it now, or skip today."),
    reasons.NOTHING_TO_SHOW: gettext_noop(
        "Approve a fundraiser: until the latest start it goes out by itself, later by «Send now». Or skip today."
    ),
    reasons.SENT_ELSEWHERE: gettext_noop(
        "People may have it already. Skip today: «Send now» would write to everybody a second time."
    ),
}


def what_to_do(reason: str) -> str:
    """The advice in the reader's language; none where there is nothing to decide."""
    advice = WHAT_TO_DO.get(reason.partition(": ")[0])
    return gettext(advice) if advice else ""


# For a log record: in the language of whoever reads it.
what_to_do_lazily = lazy(what_to_do, str)
