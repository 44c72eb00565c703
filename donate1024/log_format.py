"""What a process writes about itself, without secrets: the lines of its log, and the error that ends it."""

import logging
import sys
import threading
import traceback
from types import TracebackType

from django.utils import translation

from posts.redaction import redact


class RedactingFormatter(logging.Formatter):
    """Every handler's formatter: arguments, traceback and stack may carry an address with the bot's token in it.

    Logs are English, also where an argument has words for people.
    """

    def format(self, record: logging.LogRecord) -> str:
        with translation.override(None):
            return redact(super().format(record))


def redact_uncaught() -> None:
    """What nobody catches is printed by the interpreter itself, past all logging: from here on without secrets."""
    sys.excepthook = _print
    threading.excepthook = lambda failed: _print(failed.exc_type, failed.exc_value, failed.exc_traceback)
    sys.unraisablehook = lambda failed: _print(failed.exc_type, failed.exc_value, failed.exc_traceback)


def _print(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if not issubclass(kind, SystemExit):  # a thread's own end
        sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))
