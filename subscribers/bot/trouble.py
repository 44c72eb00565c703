"""How long to wait after each failure in a row to fetch updates, and which of them is worth a log line."""

import logging
from time import monotonic

from telegram.error import Conflict, TelegramError

from subscribers.telegram.outcomes import Flooded, TokenRefused, as_channel_error

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds
WITHOUT_TOKEN_PAUSE = 60.0  # seconds
CONFLICT_LASTS = 90.0  # seconds; a shorter one is a restart that overlaps


class Trouble:
    def __init__(self) -> None:
        self._began: float | None = None  # None: all is well
        self._pause = FIRST_PAUSE
        self._told: set[str] = set()

    def pause_after(self, error: TelegramError) -> float:
        """Seconds to wait before the next request."""
        if self._began is None:
            self._began = monotonic()
            logger.warning("No updates: %s. Asking again, in growing pauses", error.message)
        match as_channel_error(error):
            case Flooded(wait=wait):
                return wait.total_seconds()
            case TokenRefused():
                self._tell("Telegram refuses the bot's token. What to do: check TELEGRAM_BOT_TOKEN, restart the bot")
                return WITHOUT_TOKEN_PAUSE
            case _ if isinstance(error, Conflict):
                self._tell_of_conflict(error.message, lasted=monotonic() - self._began)
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        return pause

    def end(self) -> None:
        """Updates were fetched."""
        if self._began is not None:
            logger.info("Updates come again, after %.0f s", monotonic() - self._began)
            self._began = None
            self._pause = FIRST_PAUSE
            self._told.clear()

    def _tell_of_conflict(self, message: str, *, lasted: float) -> None:
        if "webhook" in message:
            self._tell("A webhook is set, so no updates come. What to do: find out who set it, and delete it")
        elif lasted > CONFLICT_LASTS:
            self._tell("Another installation polls with this token. What to do: stop one of the two")

    def _tell(self, alert: str) -> None:
        if alert not in self._told:
            self._told.add(alert)
            logger.error(alert)
