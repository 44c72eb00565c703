"""The bot's life: it polls and answers while the lock is its own, until it is told to stop."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from subscribers.bot.database import Database
from subscribers.bot.handlers import Handlers
from subscribers.bot.lock import LockLost, PollingLock, polling_lock
from subscribers.bot.people import People
from subscribers.bot.polling import Poller, prune_hourly
from subscribers.bot.replies import Replies
from subscribers.telegram.client import TelegramBot, open_bot
from subscribers.telegram.pace import Pace, open_pace

logger = logging.getLogger(__name__)

CONNECTIONS = 64
FINISH_WITHIN = 5.0  # seconds
RETRY_AFTER = 2.0  # seconds


async def serve(stop: asyncio.Event, *, heard: Callable[[], None]) -> None:
    """Poll and answer until `stop` is set; what is in hand by then gets a few seconds to be finished.

    `heard` is called, in the event loop, each time that Telegram has answered to us, be it with no updates.
    """
    working = asyncio.create_task(_work(stop, heard))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working


async def _work(stop: asyncio.Event, heard: Callable[[], None]) -> None:
    async with open_bot(connections=CONNECTIONS) as bot, open_pace() as pace:
        is_away = False
        while not stop.is_set():
            try:
                async with polling_lock() as lock:
                    is_away = False
                    await _one_term(lock, bot, pace, heard)
            except* LockLost as lost:
                if not is_away:
                    logger.warning(
                        "The database is out of reach (%s): the bot waits for it. DATABASE_URL says where it is",
                        lost.exceptions[0],
                    )
                is_away = True
            await asyncio.sleep(RETRY_AFTER)


async def _one_term(lock: PollingLock, bot: TelegramBot, pace: Pace, heard: Callable[[], None]) -> None:
    """Poll and answer as long as the lock holds.

    Raises:
        LockLost: in a group; nothing is answered any more by then.
    """
    database = Database()
    people = People(database, Handlers(database, Replies(bot, pace)))
    logger.info("The bot listens")
    try:
        async with asyncio.TaskGroup() as parts:
            parts.create_task(lock.watch())
            parts.create_task(Poller(bot, database, people, heard).run())
            parts.create_task(prune_hourly(database))
    except asyncio.CancelledError:
        await people.finish(within=FINISH_WITHIN)
        raise
    finally:
        people.drop()
