"""What Telegram says of the bot, and of the chats of the people who run this."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import OperationalError
from telegram.constants import ChatAction
from telegram.error import TelegramError

from donate1024.doctor.examining import Mend, Off
from posts.event_loop import run_without_waiting
from subscribers import admin_chats
from subscribers.telegram.client import TelegramBot, open_bot
from subscribers.telegram.outcomes import ChannelError, TokenRefused, as_channel_error

R = TypeVar("R")

CONNECTIONS = 8


def bot() -> str:
    if not settings.TELEGRAM_BOT_TOKEN:
        raise Off("no token. `make run` starts the sandbox; TELEGRAM_BOT_TOKEN in .env, from @BotFather, makes it real")
    try:
        name, webhook = run_without_waiting(_with_bot(_name_and_webhook))
    except TokenRefused:
        raise Mend("Telegram refuses TELEGRAM_BOT_TOKEN. Copy it anew from @BotFather into .env, restart") from None
    except ChannelError as error:
        raise Mend(
            f"Telegram is out of reach ({error}). Look at the network, and at HTTPS_PROXY if you set it"
        ) from None
    if webhook:
        host = urlsplit(webhook).hostname
        raise Mend(f"a webhook is set, so {host} gets what people write. Find out who set it, and delete it")
    return f"Telegram knows it as @{name}"


def chats() -> str:
    """Each chat sees «typing…» for five seconds, which whoever may not write to it may not do; no message is sent."""
    chat_ids = _chat_ids()
    if not chat_ids:
        raise Off("none: nobody gets alerts. Open a link that `make run` prints, or set TELEGRAM_ADMIN_CHATS")
    refusals = run_without_waiting(_with_bot(lambda bot: _refusals(bot, chat_ids)))
    if refusals:
        raise Mend(f"{'; '.join(refusals)}. Press /start in the bot there, or take the chat off")
    return f"{len(chat_ids)} can be written to"


async def _with_bot(ask: Callable[[TelegramBot], Awaitable[R]]) -> R:
    async with open_bot(connections=CONNECTIONS) as bot:
        try:
            return await ask(bot)
        except TelegramError as error:
            raise as_channel_error(error) from None


async def _name_and_webhook(bot: TelegramBot) -> tuple[str, str]:
    return (await bot.get_me()).username or "", (await bot.get_webhook_info()).url


async def _refusals(bot: TelegramBot, chat_ids: list[int]) -> list[str]:
    answers = await asyncio.gather(*(_refusal(bot, chat_id) for chat_id in chat_ids))
    return [f"chat {chat_id}: {answer}" for chat_id, answer in zip(chat_ids, answers, strict=True) if answer]


async def _refusal(bot: TelegramBot, chat_id: int) -> str:
    try:
        await bot.send_chat_action(chat_id, ChatAction.TYPING)
    except TelegramError as error:
        return str(as_channel_error(error))
    return ""


def _chat_ids() -> list[int]:
    try:
        return admin_chats.chat_ids()
    except OperationalError:  # the database has a line of its own
        return settings.TELEGRAM_ADMIN_CHATS
