"""What the HTTP client makes of an answer: its size, its status, its parameters."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings
from telegram.error import TelegramError

from subscribers.telegram.client import open_bot
from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    ChatRefused,
    Flooded,
    OutcomeUnknown,
    as_channel_error,
)
from tests.subscribers.telegram.raw_server import MESSAGE, outcome, read_request, response, server


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_an_answer_that_is_too_large_is_none_and_costs_no_memory(settings: Settings, encoding: str) -> None:
    pack = zlib.compressobj(wbits=31)
    packed = b"".join([*[pack.compress(b" " * 1_000_000) for _ in range(100)], pack.flush()])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n\r\n".encode())
        for _ in range(100):
            writer.write(b" " * 1_000_000 if encoding == "identity" else packed)
            await writer.drain()

    async with server(serve, settings):
        tracemalloc.start()
        error = await outcome()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert isinstance(error, OutcomeUnknown)
    assert str(error) == "no answer: it is too large"
    assert most < 20_000_000


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_an_answer_that_is_just_small_enough_is_one(settings: Settings, encoding: str) -> None:
    body = MESSAGE.ljust(1_000_000)
    packed = gzip.compress(body) if encoding == "gzip" else body

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(response(packed).replace(b"\r\n\r\n", f"\r\nContent-Encoding: {encoding}\r\n\r\n".encode(), 1))

    async with server(serve, settings), open_bot(connections=1) as bot:
        assert (await bot.send_message(1, "Збір")).message_id == 1


async def test_a_hundred_long_updates_are_not_too_large(settings: Settings) -> None:
    long = {"text": "ї" * 4096, "entities": [{"type": "bold", "offset": 10, "length": 5}] * 100}
    body = json.dumps({"ok": True, "result": [{"message": long | {"reply_to_message": long}}] * 100}).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(response(body))

    async with server(serve, settings), open_bot(connections=1) as bot:
        updates = await bot.fetch_updates(offset=None, wait=0, kinds=["message"])

    assert len(body) > 1_000_000
    assert len(updates) == 100


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (500, '{"ok":false,"description":"Internal","parameters":{"retry_after":1}}', OutcomeUnknown),
        (502, '{"ok":false,"description":"Bad","parameters":{"migrate_to_chat_id":-100123}}', OutcomeUnknown),
        (429, '{"ok":false,"description":"Slow down"}', Flooded),
        (429, '{"ok":false,"description":"Slow down","parameters":null}', Flooded),
        (429, '{"ok":false,"description":"Slow down","parameters":{"retry_after":"2"}}', Flooded),
        (429, '{"ok":false,"description":"Slow down","parameters":{"retry_after":100000000000000000}}', Flooded),
        (429, "<h1>slow down</h1>", Flooded),
        (400, '{"ok":false,"description":"Bad Request: no","parameters":{"retry_after":1}}', ChatRefused),
        (400, '{"ok":false,"description":"moved","parameters":{"migrate_to_chat_id":true}}', ChatRefused),
        (400, '{"ok":false,"description":"to","parameters":{"migrate_to_chat_id":9223372036854775807}}', ChatMoved),
        (400, '{"ok":false,"description":"to","parameters":{"migrate_to_chat_id":9223372036854775808}}', ChatRefused),
    ],
)
async def test_an_answer_means_what_its_status_says_whatever_its_parameters(
    status: int, body: str, told: type[ChannelError], settings: Settings
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(f"HTTP/1.1 {status} So\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    async with server(answer, settings), open_bot(connections=1) as bot:
        with pytest.raises(TelegramError) as caught:
            await bot.send_message(1, "Збір")

    error = as_channel_error(caught.value)
    assert type(error) is told
    if isinstance(error, Flooded):
        assert timedelta(seconds=1) <= error.wait <= timedelta(days=7)


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("7", 7), ("1", 1), ("0", 1), ("-5", 1), ('"2"', 1), ("1.5", 1), ("null", 1), ("9" * 18, 604_800)],
)
async def test_a_flood_lasts_for_whole_seconds_one_at_least_and_a_week_at_most(
    settings: Settings, told: str, seconds: int
) -> None:
    body = f'{{"ok":false,"description":"Slow down","parameters":{{"retry_after":{told}}}}}'

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(response(body.encode(), "429 Too Many Requests"))

    async with server(flood, settings):
        error = await outcome()

    assert isinstance(error, Flooded)
    assert error.wait == timedelta(seconds=seconds)
