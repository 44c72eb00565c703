"""The bot, as a process."""

import asyncio
import signal

from django.core.management.base import BaseCommand

from donate1024.watch.bot_watcher import Watcher
from subscribers.bot.serving import serve


class Command(BaseCommand):
    help = "Runs the bot, until SIGTERM or Ctrl-C. A second one on the same database waits for the end of the first."

    def handle(self, *args: object, **options: object) -> None:
        asyncio.run(serve_until_signal())


async def serve_until_signal() -> None:
    stop = asyncio.Event()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(wanted, stop.set)
    watcher = Watcher()
    watching = asyncio.create_task(watcher.run())
    await serve(stop, heard=watcher.heard)
    watching.cancel()
