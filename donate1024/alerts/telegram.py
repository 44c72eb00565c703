"""The first route: a message in each admin chat."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import redis.exceptions
from telegram import Bot, LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import TelegramError

from donate1024.alerts.audience import Audience
from donate1024.alerts.wording import Message
from posts.event_loop import run_without_waiting
from subscribers.telegram.client import open_bot
from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    Flooded,
    OutcomeUnknown,
    RecipientGone,
    as_channel_error,
)
from subscribers.telegram.pace import Pace, open_pace

WITHIN = 10.0  # seconds, for all chats side by side
CONNECTIONS = 8


def send(message: Message, audience: Audience, *, with_sound: bool) -> None:
    """Write to all admin chats at a time. Alerts take no permit; a flood wait of the whole bot holds them too.

    Raises:
        ChannelError: not one of them is known to have it; why the first of them has not.
    """
    run_without_waiting(_send(message, audience, with_sound=with_sound))


async def _send(message: Message, audience: Audience, *, with_sound: bool) -> None:
    async with open_pace() as pace, open_bot(connections=CONNECTIONS) as bot:
        if not audience.chats:
            raise await _why_to_nobody(bot)
        if quiet := await _common_quiet(pace):
            raise Flooded("Telegram asks to wait", wait=timedelta(seconds=quiet))
        texts = {chat: message.as_html(for_operator=chat in audience.operators) for chat in audience.chats}
        faults = await asyncio.gather(*(_write(bot, chat, text, with_sound=with_sound) for chat, text in texts.items()))
        for chat, fault in zip(audience.chats, faults, strict=True):
            if isinstance(fault, Flooded) and chat > 0:  # a group's is its own
                await _common_quiet(pace, fault.wait.total_seconds())
        with suppress(redis.exceptions.RedisError):  # without Valkey there is no broadcast that could give way
            await pace.book(len(faults))
    if all(faults):
        raise next(filter(None, faults))


async def _why_to_nobody(bot: Bot) -> ChannelError:
    """What is to be mended before a chat can be linked; else that none is."""
    try:
        async with asyncio.timeout(WITHIN):
            await bot.get_me()
    except TimeoutError:
        return OutcomeUnknown(f"no answer within {WITHIN:.0f} s")
    except TelegramError as error:
        return as_channel_error(error)
    return RecipientGone("there is no admin chat", left_reason="")


async def _write(bot: Bot, chat_id: int, text: str, *, with_sound: bool) -> ChannelError | None:
    """Why the chat has not got it, as far as is known; None for one that has."""
    try:
        async with asyncio.timeout(WITHIN):
            await bot.send_message(
                chat_id,
                text,
                parse_mode=ParseMode.HTML,
                disable_notification=not with_sound,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
    except TimeoutError:
        return OutcomeUnknown(f"no answer within {WITHIN:.0f} s")
    except TelegramError as error:
        fault = as_channel_error(error)
        if isinstance(fault, ChatMoved):
            return await _write(bot, fault.new_id, text, with_sound=with_sound)
        return fault
    except Exception as error:  # noqa: BLE001 -- the library takes whatever it is told for a message
        return OutcomeUnknown(f"not an answer of the Bot API: {type(error).__name__}")
    return None


async def _common_quiet(pace: Pace, seconds: float = 0) -> float:
    try:
        return await pace.be_quiet(seconds)
    except redis.exceptions.RedisError:
        return 0
