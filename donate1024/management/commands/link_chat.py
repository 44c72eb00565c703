"""One-time links for whoever is at the terminal."""

import asyncio
from json import dumps

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from telegram.error import TelegramError

from posts import clock
from posts.event_loop import run_without_waiting
from subscribers import admin_chats
from subscribers.admin_chats import LINK_LASTS, Role
from subscribers.telegram.client import open_bot
from subscribers.telegram.outcomes import TokenRefused, as_channel_error

ANSWERS_WITHIN = 10.0  # seconds


class Command(BaseCommand):
    help = "Prints one-time links that make whoever opens them an admin chat; a new one revokes its role's older one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--role", action="append", choices=Role.values, help="only for this role (may be repeated)")
        parser.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *, role: list[str] | None, json: bool, **_: object) -> None:
        bot, at = where_the_bot_is(), clock.now()
        links = {each: f"{bot}?start={admin_chats.make_link(Role(each), at=at)}" for each in role or Role.values}
        if json:
            self.stdout.write(dumps(links))
            return
        for each, link in links.items():
            self.stdout.write(f"{each:<9} {link}")
        hours = LINK_LASTS.total_seconds() / 3600
        self.stdout.write(f"Each opens once, within {hours:.0f} hours. For a group, put startgroup in place of start.")


def where_the_bot_is() -> str:
    """The address of the bot; in the sandbox, that of its phones.

    Raises:
        CommandError: Telegram does not tell.
    """
    if settings.SANDBOX:
        return f"{settings.TELEGRAM_API_URL.rstrip('/')}/"
    try:
        return f"https://t.me/{run_without_waiting(_username())}"
    except (TelegramError, TimeoutError) as error:
        if isinstance(error, TelegramError) and isinstance(as_channel_error(error), TokenRefused):
            raise CommandError("Telegram refuses TELEGRAM_BOT_TOKEN: copy it anew from @BotFather into .env") from None
        raise CommandError(
            "Telegram cannot be reached: nothing is sent or received until it can. Look at this machine's network"
        ) from None


async def _username() -> str:
    async with asyncio.timeout(ANSWERS_WITHIN), open_bot(connections=1) as bot:
        return (await bot.get_me()).username or ""
