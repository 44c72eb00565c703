"""The bot that every process speaks to Telegram through."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from django.conf import settings
from telegram import Bot

from subscribers.telegram.transport import AiohttpRequest

# Bytes: a hundred updates, each with two messages of 4096 escaped characters and a hundred entities, have 7 000 000.
# What is not taken is handed out again, for ever.
LARGEST_UPDATES = 16_000_000
POLL_GRACE = 10  # seconds beyond the asked wait, after which a connection counts as dead


class TelegramBot(Bot):
    """The library's bot, whose `repr` does not tell its token."""

    def __repr__(self) -> str:
        return f"TelegramBot[{bot_id()}]"

    async def fetch_updates(self, *, offset: int | None, wait: int, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Wait up to `wait` seconds for updates, and hand them out as Telegram wrote them.

        `Bot.get_updates` parses them at once: one that this version cannot read would hide all the others for ever.
        """
        asked = {"offset": offset, "timeout": wait, "allowed_updates": kinds}
        updates: list[dict[str, Any]] = await self._post("getUpdates", asked, read_timeout=wait + POLL_GRACE)
        return updates

    async def post_form(self, method: str, form: bytes) -> Any:
        """Make one call with a form that is encoded already, and hand out the result as Telegram wrote it.

        The library's own way builds and reads each message as objects, which costs as much as the call itself.
        """
        request = cast("AiohttpRequest", self.request)  # open_bot's
        return await request.post_form(f"{self.base_url}/{method}", form)


@asynccontextmanager
async def open_bot(*, connections: int) -> AsyncIterator[TelegramBot]:
    """A bot for the running event loop, with at most so many calls at a time, and one more for long polling.

    It makes no call by itself: `Bot.initialize`, left out, would ask `getMe` each time.
    """
    api_url = settings.TELEGRAM_API_URL.rstrip("/")
    async with (
        AiohttpRequest(connections=connections, api_url=api_url) as request,
        AiohttpRequest(connections=1, api_url=api_url, largest_answer=LARGEST_UPDATES) as polling,
    ):
        yield TelegramBot(
            settings.TELEGRAM_BOT_TOKEN, base_url=f"{api_url}/bot", request=request, get_updates_request=polling
        )


def bot_id() -> int:
    """The id that Telegram gave to the bot: the first half of its token."""
    return int(settings.TELEGRAM_BOT_TOKEN.partition(":")[0])
