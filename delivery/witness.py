"""The witness outside the database: the description of /status in an admin chat, which no restored copy can undo."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from datetime import date
from typing import TypeVar

from django.utils.translation import gettext as _
from telegram import BotCommand, BotCommandScopeChat
from telegram.error import TelegramError

from delivery import locks
from delivery.database_thread import DatabaseThread
from delivery.locks import Testimony
from posts import clock
from posts.event_loop import run_without_waiting
from subscribers import admin_chats
from subscribers.telegram.client import TelegramBot, open_bot
from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    ChatRefused,
    ContentRefused,
    OutcomeUnknown,
    RecipientGone,
    as_channel_error,
)

logger = logging.getLogger(__name__)

R = TypeVar("R")

COMMAND = "status"
ASK_WITHIN = 10.0  # seconds, before planning: a Telegram that hangs must not cost the morning
_WRITTEN = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) · ([0-9]{1,15}) · ([0-9a-f]{8})$")
# It says something about this chat alone: the next one may keep the testimony.
_NOT_HERE = (RecipientGone, ChatMoved, ChatRefused, ContentRefused)


async def may_send(bot: TelegramBot, database: DatabaseThread) -> bool:
    """Whether this database may send for the next minute: not locked, and the witness knows of nothing newer.

    Raises:
        ChannelError: Telegram could not be asked; nothing may be sent before it was.
    """
    at = await database.run(clock.now)
    lock = await database.run(locks.look, at=at)
    if lock.is_locked or lock.is_witnessed(at=at):
        return not lock.is_locked
    return await renew(bot, database)


async def renew(bot: TelegramBot, database: DatabaseThread) -> bool:
    """Compare with the witness, and write the next testimony; False where that locked.

    Raises:
        ChannelError: Telegram could not be asked, or told.
    """
    at = await database.run(clock.now)
    chats = await database.run(admin_chats.chat_ids)
    testimony = await database.run(locks.advance, await read(bot, chats), at=at)
    if testimony is None:
        return False
    await _write(bot, testimony, chats)
    await database.run(locks.mark_witnessed, at=at)
    return True


def ask() -> list[Testimony]:
    """What all admin chats tell, before planning; nothing where Telegram is silent: then nothing is sent either."""
    try:
        found = run_without_waiting(_ask(admin_chats.chat_ids()))
    except (ChannelError, TimeoutError) as error:
        logger.warning("the witness in Telegram does not answer: %s", type(error).__name__)
        return []
    if not found:
        logger.warning("no admin chat keeps a witness: a restored backup would not be noticed")
    return found


async def _ask(chats: Iterable[int]) -> list[Testimony]:
    async with asyncio.timeout(ASK_WITHIN), open_bot(connections=1) as bot:
        return await read(bot, chats)


async def read(bot: TelegramBot, chats: Iterable[int]) -> list[Testimony]:
    """The testimonies that these chats keep.

    Raises:
        ChannelError: Telegram did not answer.
    """
    found: list[Testimony] = []
    for chat_id in chats:
        commands = await _try(bot.get_my_commands(scope=BotCommandScopeChat(chat_id)))
        found += [testimony for command in commands or () if (testimony := _testimony(command))]
    return found


async def _write(bot: TelegramBot, testimony: Testimony, chats: Iterable[int]) -> None:
    """Keep it in the first of the chats that takes it, beside the other commands of that chat."""
    status = BotCommand(COMMAND, f"{_('The last broadcast')}: {testimony.day} · {testimony.number} · {testimony.home}")
    for chat_id in chats:
        scope = BotCommandScopeChat(chat_id)
        commands = await _try(bot.get_my_commands(scope=scope))
        if commands is None:
            continue
        others = [command for command in commands if command.command != COMMAND]
        if await _try(bot.set_my_commands([*others, status], scope=scope)):
            return


async def _try(call: Awaitable[R]) -> R | None:
    """None where the chat is not there, or does not take it.

    Raises:
        ChannelError: Telegram did not answer, or did not answer us.
    """
    try:
        return await call
    except TelegramError as error:
        told = as_channel_error(error)
        if isinstance(told, _NOT_HERE):
            return None
        raise told from error
    except Exception as error:  # the library takes whatever it is told for commands
        raise OutcomeUnknown(f"not an answer of the Bot API: {type(error).__name__}") from error


def _testimony(command: BotCommand) -> Testimony | None:
    written = _WRITTEN.search(command.description) if command.command == COMMAND else None
    if written is None:
        return None
    with suppress(ValueError):  # somebody else wrote there: such a day does not exist
        return Testimony(number=int(written[2]), day=date.fromisoformat(written[1]), home=written[3])
    return None
