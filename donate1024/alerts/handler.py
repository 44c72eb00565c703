"""The logging handler that makes alerts of errors."""

import logging
from typing import TYPE_CHECKING

from django.apps import apps

if TYPE_CHECKING:
    from donate1024.alerts.folding import Folding

FLUSH_WITHIN = 20.0  # seconds


class AlertHandler(logging.Handler):
    """Tells people of every ERROR and above, and of the end of a condition.

    A record costs microseconds: a thread does the rest. A CRITICAL says that the process is about to end, so only it
    waits until it is told, 20 s at most; so does the end of the process, through `logging.shutdown`.
    """

    _folding: "Folding | None" = None

    def filter(self, record: logging.LogRecord) -> bool:
        is_telling_itself = (record.threadName or "").startswith("alerts")
        is_worth_a_look = record.levelno >= logging.ERROR or hasattr(record, "closes")
        return is_worth_a_look and not is_telling_itself and apps.ready and bool(super().filter(record))

    def emit(self, record: logging.LogRecord) -> None:
        from donate1024.alerts import reading  # noqa: PLC0415 -- the logging is configured before there are models
        from donate1024.alerts.folding import FOLDING  # noqa: PLC0415 -- as above

        try:
            if reading.is_alert(record):
                self._folding = FOLDING
                FOLDING.hear(record)
        except Exception:  # noqa: BLE001 -- as every handler: whoever logs must not fail
            self.handleError(record)

    def handle(self, record: logging.LogRecord) -> bool:
        handled = super().handle(record)
        if handled and record.levelno >= logging.CRITICAL:
            self.flush()
        return handled

    def flush(self) -> None:
        if self._folding:
            self._folding.flush(within=FLUSH_WITHIN)

    def close(self) -> None:
        if self._folding:
            self._folding.close()
        super().close()


def flush_all(**_signal: object) -> None:
    """What `logging.shutdown` does at the end of a process: Celery ends its children without it."""
    for handler in logging.getLogger().handlers:
        handler.flush()
