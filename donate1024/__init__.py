"""The wiring: settings, processes, the embedded servers and the sandbox."""

import os

# python-telegram-bot reads this at import: RetryAfter.retry_after is then a timedelta, without a warning.
os.environ.setdefault("PTB_TIMEDELTA", "1")
