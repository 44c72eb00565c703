"""How long to wait after each failure in a row to fetch updates, and which of them is worth a log line."""

import logging
from math import inf

from telegram.error import Conflict, TelegramError

from subscribers.models import PollingConflict
from subscribers.telegram.outcomes import Flooded, TokenRefused, as_channel_error

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds
WITHOUT_TOKEN_PAUSE = 60.0  # seconds
# Two who poll with one token take turns: each success of ours ends at the other's next request.
TURN = 2 * LONGEST_PAUSE


class Trouble:
    """Every `at` is in seconds of a clock that only goes forward."""

    def __init__(self) -> None:
        self._is_well = False  # or not known yet
        self._began: float | None = None
        self._turns_until = -inf
        self._pause = FIRST_PAUSE
        self._told: set[str] = set()

    def pause_after(self, error: TelegramError, *, at: float) -> float:
        """Seconds to wait before the next request."""
        self._is_well = False
        if self._began is None:
            self._began = at
            logger.warning("No updates: %s. Asking again, in growing pauses", error.message)
        match as_channel_error(error):
            case Flooded(wait=wait):
                return wait.total_seconds()
            case TokenRefused():
                self._tell("Telegram refuses the bot's token. What to do: check TELEGRAM_BOT_TOKEN, restart the bot")
                return WITHOUT_TOKEN_PAUSE
            case _ if isinstance(error, Conflict):
                self._meet_conflict(error, at=at, lasted=at - self._began)
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        return pause

    def end(self, *, at: float) -> bool:
        """Updates were fetched. True if from now on all is well, and was not, or was not known to be."""
        if self._is_well or at < self._turns_until:
            return False
        if self._began is not None:
            logger.info("Updates come again, after %.0f s", at - self._began)
        self._is_well, self._began = True, None
        self._pause = FIRST_PAUSE
        self._told.clear()
        return True

    def _meet_conflict(self, error: Conflict, *, at: float, lasted: float) -> None:
        if is_webhook(error):
            self._turns_until = -inf  # it gives us nothing until it is deleted
            self._tell("A webhook is set, so no updates come. What to do: find out who set it, and delete it")
            return
        self._turns_until = at + TURN
        if lasted > PollingConflict.OVERLAP.total_seconds():
            self._tell("Another installation polls with this token. What to do: stop one of the two")

    def _tell(self, alert: str) -> None:
        if alert not in self._told:
            self._told.add(alert)
            logger.error(alert)


def is_webhook(error: Conflict) -> bool:
    """Whether the updates go to a webhook; or else another process polls for them."""
    return "webhook" in error.message
