"""A stand-in for Telegram's Bot API: its own process, its own ledger, and a page of phones. Imports nothing of ours.

Stricter than Telegram, to find mistakes early: a parameter it does not know is refused by name (Telegram ignores it),
and so are more than 100 entities (Telegram may drop the rest). Refused though Telegram takes them, since nothing of
ours sends them: Markdown, `entities` given apart from the text, reply keyboards, photos by URL. Simpler than Telegram:
no limits per chat, a flood's penalty of one second, updates kept until confirmed, no webhook ever called, and a chat
is open to every bot or to none.
"""

from typing import Any

Json = dict[str, Any]

# Of the bot that is always known: Telegram never gave it to anybody, and no real server would take it.
TOKEN = "1024:SANDBOX-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"  # noqa: S105
