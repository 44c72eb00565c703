# /// script
# requires-python = ">=3.11"
# dependencies = ["aiogram==3.31.0"] # of its own: it wants an older pydantic than we have
# ///
"""A raw aiogram loop that keeps no record: `API_URL COUNT AT_ONCE`; prints its seconds and its CPU seconds."""

import asyncio
import sys
import time

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

TEXT = "Збір на дрони для бригади. " * 12
BUTTON = InlineKeyboardButton(text="Підтримати", url="https://send.monobank.ua/jar/SANDBOX1")
KEYBOARD = InlineKeyboardMarkup(inline_keyboard=[[BUTTON]])


async def main(api_url: str, count: int, at_once: int) -> None:
    session = AiohttpSession(api=TelegramAPIServer.from_base(api_url), limit=at_once)
    chats = iter(range(1, count + 1))
    async with Bot("1:" + "a" * 35, session=session) as bot:

        async def send() -> None:
            for chat in chats:
                await bot.send_message(chat, TEXT, parse_mode="HTML", reply_markup=KEYBOARD)

        began = time.monotonic()
        await asyncio.gather(*(send() for _ in range(at_once)))
        print(time.monotonic() - began, time.process_time())  # noqa: T201


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
