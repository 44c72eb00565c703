"""A stand-in for Telegram's Bot API: its own process, its own ledger, and a page of phones. Imports nothing of ours."""

from typing import Any

Json = dict[str, Any]

# The bot that is always known (settings.SANDBOX_TOKEN, which cannot be imported without Django).
TOKEN = "1024:SANDBOX-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"  # noqa: S105
