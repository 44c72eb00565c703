"""How long to wait after each failure in a row to fetch updates, and what of it people are told."""

import logging
from math import inf

from django.utils.translation import gettext_noop
from telegram.error import Conflict, TelegramError

from subscribers.models import PollingConflict
from subscribers.telegram.outcomes import Flooded, TokenRefused, as_channel_error

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds
WITHOUT_TOKEN_PAUSE = 60.0  # seconds
# Two who poll with one token take turns: each success of ours ends at the other's next request.
TURN = 2 * LONGEST_PAUSE
LONGEST_REQUEST = 45.0  # seconds: one that took longer was not on its way, this process stood still
TOLD_AFTER = 90.0  # seconds; a router that starts anew takes less

# By the condition that each of them begins.
ALERTS = {
    "polling": gettext_noop(
        "The bot does not reach Telegram. Whoever writes to it waits; nothing they write is lost within a day, and it "
        "is answered by itself afterwards. What to do: see whether this machine reaches the internet, and its proxy "
        "if it has one."
    ),
    "token": gettext_noop(
        "Telegram refuses the bot's token. Nobody is answered, and no fundraiser goes out. What to do: put the token "
        "that @BotFather shows into TELEGRAM_BOT_TOKEN, and start donate1024 again."
    ),
    "webhook": gettext_noop(
        "A webhook is set for this bot. Somebody else gets what people write to it, and no morning is planned "
        "meanwhile. What to do: find out who set it, and delete it; the rest goes on by itself."
    ),
    "conflict": gettext_noop(
        "Another installation gets this bot's messages. People are answered by it or by nobody, and no morning is "
        "planned meanwhile. What to do: stop one of the two; the rest goes on by itself."
    ),
}


class Trouble:
    """Every `at` is in seconds of a clock that only goes forward."""

    def __init__(self) -> None:
        self._is_well = False  # or not known yet
        self._began: float | None = None
        self._turns_until = -inf
        self._pause = FIRST_PAUSE
        self._told: set[str] = set()
        self._perhaps_open = {*ALERTS}  # an earlier process may have told of them

    def pause_after(self, error: TelegramError, *, asked_at: float, at: float) -> float:
        """Seconds to wait before the next request, after one that was made at `asked_at` has failed at `at`."""
        self._is_well = False
        if self._began is None:
            self._began = max(asked_at, at - LONGEST_REQUEST)
            logger.warning("No updates: %s. Asking again, in growing pauses", error.message)
        lasted = at - self._began
        match as_channel_error(error):
            case Flooded(wait=wait):
                self._tell("polling", when=lasted + wait.total_seconds() >= TOLD_AFTER)
                return wait.total_seconds()
            case TokenRefused():
                self._tell("token")
                return WITHOUT_TOKEN_PAUSE
            case _ if isinstance(error, Conflict):
                self._meet_conflict(error, at=at, lasted=lasted)
            case _:
                self._tell("polling", when=lasted >= TOLD_AFTER)
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        return pause

    def end(self, *, at: float) -> bool:
        """Updates were fetched. True if from now on all is well, and was not, or was not known to be."""
        if self._is_well or at < self._turns_until:
            return False
        if self._began is not None:
            logger.info("Updates come again, after %.0f s", at - self._began)
        for condition in sorted(self._perhaps_open):
            logger.info("%s: all is well", condition, extra={"closes": condition})
        self._is_well, self._began = True, None
        self._pause = FIRST_PAUSE
        self._told.clear()
        self._perhaps_open.clear()
        return True

    def _meet_conflict(self, error: Conflict, *, at: float, lasted: float) -> None:
        if is_webhook(error):
            self._turns_until = -inf  # it gives us nothing until it is deleted
            self._tell("webhook")
            return
        self._turns_until = at + TURN
        self._tell("conflict", when=lasted > PollingConflict.OVERLAP.total_seconds())

    def _tell(self, condition: str, *, when: bool = True) -> None:
        if when and condition not in self._told:
            self._told.add(condition)
            self._perhaps_open.add(condition)
            logger.error(ALERTS[condition], extra={"opens": condition})


def is_webhook(error: Conflict) -> bool:
    """Whether the updates go to a webhook; or else another process polls for them."""
    return "webhook" in error.message
