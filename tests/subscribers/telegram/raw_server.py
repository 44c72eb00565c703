"""A server of bytes, and what a call to it ends in."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from pytest_django.fixtures import Settings
from telegram import Bot
from telegram.error import TelegramError

from subscribers.telegram.client import open_bot
from subscribers.telegram.outcomes import (
    ChannelError,
    as_channel_error,
)

Connection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MESSAGE = b'{"ok":true,"result":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"}}}'


@asynccontextmanager
async def server(answer: Connection, settings: Settings) -> AsyncIterator[str]:
    """A server whose every connection is served by `answer`; TELEGRAM_API_URL names it."""

    connections: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(asyncio.create_task(serve(reader, writer)))

    running = await asyncio.start_server(accept, "127.0.0.1", 0)
    settings.TELEGRAM_API_URL = f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}"
    try:
        yield settings.TELEGRAM_API_URL
    finally:
        running.close()
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return head + await reader.readexactly(int(length.split(b":")[1]))


def response(body: bytes = MESSAGE, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def failure(bot: Bot) -> TelegramError:
    with pytest.raises(TelegramError) as caught:
        await bot.send_message(1, "Збір")
    return caught.value


async def outcome() -> ChannelError:
    async with open_bot(connections=1) as bot:
        return as_channel_error(await failure(bot))
