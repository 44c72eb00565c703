"""What most people write: a Celery task for each recipient, with the library's default transport."""

import asyncio
import os
from functools import cache

from celery import Celery
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup

TEXT = "Збір на дрони для бригади. " * 12
KEYBOARD = InlineKeyboardMarkup([[InlineKeyboardButton("Підтримати", url="https://send.monobank.ua/jar/SANDBOX1")]])

app = Celery("rival", broker=os.environ["RIVAL_BROKER"])
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=4)


def new_bot() -> Bot:
    return Bot("1:" + "a" * 35, base_url=os.environ["TELEGRAM_API_URL"] + "/bot")


@cache
def kept() -> tuple[asyncio.AbstractEventLoop, Bot]:
    """One loop and one bot for each of the worker's processes."""
    return asyncio.new_event_loop(), new_bot()


@app.task(name="rival.kept_client")
def kept_client(chat_id: int) -> None:
    loop, bot = kept()
    loop.run_until_complete(bot.send_message(chat_id, TEXT, parse_mode="HTML", reply_markup=KEYBOARD))


@app.task(name="rival.new_bot")
def new_bot_each(chat_id: int) -> None:
    asyncio.run(_send(chat_id))


async def _send(chat_id: int) -> None:
    async with new_bot() as bot:
        await bot.send_message(chat_id, TEXT, parse_mode="HTML", reply_markup=KEYBOARD)
