"""Long polling: what Telegram hands out is stored, then confirmed, then answered.

The library's own updater confirms before it has handled: a kill loses what it held.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import NoReturn

from telegram.error import Conflict, TelegramError

from posts import clock
from subscribers.bot import inbox
from subscribers.bot.database import Database
from subscribers.bot.events import read
from subscribers.bot.people import People, Waiting
from subscribers.bot.trouble import Trouble, is_webhook
from subscribers.models import PollingConflict
from subscribers.telegram.client import TelegramBot

KINDS = ("message", "callback_query", "my_chat_member")  # the last is never sent unless it is asked for
WAIT = 30  # seconds that Telegram holds an empty answer back
PRUNE_EVERY = 3600.0  # seconds
NOTE_WITHIN = 5.0  # seconds: what a database takes longer for is not written down


class Poller:
    """One process' turn at polling. It begins with what an earlier one stored and did not answer."""

    def __init__(self, bot: TelegramBot, database: Database, people: People, heard: Callable[[], None]) -> None:
        self._bot = bot
        self._database = database
        self._people = people
        self._heard = heard
        # From the last answer, never from the table: ids begin anew, at random, after a quiet week.
        self._offset: int | None = None
        self._last_pk = 0

    async def run(self) -> NoReturn:
        trouble, wait = Trouble(), WAIT
        while True:
            await self._hand_out()
            asked_at = seconds()
            try:
                await self._fetch(wait)
            except TelegramError as error:
                wait = 0  # a connection that is dead again shows it in ten seconds instead of forty
                if isinstance(error, Conflict):
                    await self._note(partial(conflict_seen, is_webhook=is_webhook(error)))
                await asyncio.sleep(trouble.pause_after(error, asked_at=asked_at, at=seconds()))
            else:
                wait = WAIT
                if trouble.end(at=seconds()):
                    await self._note(PollingConflict.objects.over)

    async def _fetch(self, wait: int) -> None:
        updates = await self._bot.fetch_updates(offset=self._offset, wait=wait, kinds=KINDS)
        self._heard()
        if updates:
            await self._database.call(inbox.store, updates)
        # The next request confirms them. After an empty answer nothing is left to confirm.
        self._offset = updates[-1]["update_id"] + 1 if updates else None

    async def _hand_out(self) -> None:
        """Give everything stored to its people, except what has been given already."""
        while rows := await self._database.call(inbox.unhandled_after, self._last_pk):
            for_nobody = []
            for row in rows:
                if event := read(row.payload):
                    await self._people.give(Waiting(row.pk, event))
                else:
                    for_nobody.append(row.pk)
            await self._database.call(inbox.mark_handled, for_nobody)
            self._last_pk = rows[-1].pk

    async def _note(self, write: Callable[[], None]) -> None:
        """Write down for others how the polling goes; the polling itself goes on without it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTE_WITHIN):
                await self._database.call(write)


def conflict_seen(*, is_webhook: bool) -> None:
    PollingConflict.objects.seen(is_webhook=is_webhook, at=clock.now())


def seconds() -> float:
    """Of a clock that only goes forward; in the sandbox, with its jumps."""
    return monotonic() + clock.offset().total_seconds()


async def prune_hourly(database: Database) -> NoReturn:
    while True:
        await database.call(inbox.prune)
        await asyncio.sleep(PRUNE_EVERY)
