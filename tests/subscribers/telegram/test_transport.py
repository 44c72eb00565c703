"""The HTTP client's edges, each over a real socket: was a byte of the request written or not."""

import asyncio
import socket
import traceback

import pytest
from pytest_django.fixtures import Settings
from telegram.error import TelegramError

from subscribers.telegram import transport
from subscribers.telegram.client import open_bot
from subscribers.telegram.outcomes import (
    NotSent,
    OutcomeUnknown,
    as_channel_error,
)
from tests.sandbox_process import SandboxProcess
from tests.subscribers.telegram.raw_server import failure, outcome, read_request, response, server


async def test_a_host_without_a_name_got_nothing(settings: Settings) -> None:
    settings.TELEGRAM_API_URL = "http://nowhere.invalid"

    error = await outcome()

    assert isinstance(error, NotSent)
    assert str(error) == "not sent: ClientConnectorDNSError"


async def test_a_connection_that_is_never_accepted_got_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "CONNECT_WITHIN", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first, socket.socket() as second:
        first.connect(full.getsockname())
        second.setblocking(False)  # its connection is the one that fills the queue
        second.connect_ex(full.getsockname())
        settings.TELEGRAM_API_URL = f"http://127.0.0.1:{full.getsockname()[1]}"

        assert isinstance(await outcome(), NotSent)


async def test_waiting_in_vain_for_a_free_connection_got_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()
        await reader.read()

    monkeypatch.setattr(transport, "CONNECT_WITHIN", 0.3)
    async with server(hang, settings), open_bot(connections=1) as bot:
        first = asyncio.create_task(failure(bot))
        await asyncio.sleep(0.1)

        second = as_channel_error(await failure(bot))

        assert isinstance(second, NotSent)
        first.cancel()


async def test_a_proxy_that_refuses_the_tunnel_got_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response(b"", "407 Proxy Authentication Required"))

    async with server(refuse, settings) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.delenv("NO_PROXY", raising=False)
        settings.TELEGRAM_API_URL = "https://api.telegram.test"

        assert isinstance(await outcome(), NotSent)


async def test_a_server_that_never_answers_perhaps_got_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    monkeypatch.setattr(transport, "READ_WITHIN", 0.3)
    async with server(hang, settings):
        error = await outcome()

    assert isinstance(error, OutcomeUnknown)
    assert str(error) == "no answer: SocketTimeoutError"


async def test_a_server_that_drips_is_given_up(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _ in range(100):
            writer.write(b" ")
            await asyncio.sleep(0.1)

    monkeypatch.setattr(transport, "CONNECT_WITHIN", 0.3)
    monkeypatch.setattr(transport, "READ_WITHIN", 0.5)
    async with server(drip, settings), asyncio.timeout(3):
        assert isinstance(await outcome(), OutcomeUnknown)


async def test_a_kept_connection_that_breaks_is_not_tried_again(settings: Settings) -> None:
    requests: list[bytes] = []

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await read_request(reader))
        writer.write(response())
        requests.append(await read_request(reader))

    async with server(once, settings), open_bot(connections=1) as bot:
        await bot.send_message(1, "Збір")

        error = as_channel_error(await failure(bot))

    assert isinstance(error, OutcomeUnknown)
    assert len(requests) == 2


async def test_a_call_says_who_calls_and_sends_no_cookie_back(settings: Settings) -> None:
    requests: list[bytes] = []
    answer = response().replace(b"\r\n\r\n", b"\r\nSet-Cookie: who=you\r\n\r\n")

    async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            requests.append(await read_request(reader))
            writer.write(answer)

    async with server(twice, settings) as url:
        settings.TELEGRAM_API_URL = url.replace("127.0.0.1", "localhost")  # no cookie is kept for a bare address
        async with open_bot(connections=1) as bot:
            await bot.send_message(1, "Збір")
            await bot.send_message(1, "Збір")

    assert b"User-Agent: python-telegram-bot" in requests[0]
    assert b"Cookie:" not in requests[1]


async def test_an_upload_goes_out_whole(settings: Settings) -> None:
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await read_request(reader))
        writer.write(response())

    async with server(serve, settings), open_bot(connections=1) as bot:
        await bot.send_photo(1, b"\x89PNG bytes", caption="Збір", filename="збір.png")

    assert b"Content-Type: image/png" in requests[0]
    assert b"\x89PNG bytes" in requests[0]
    assert "Збір".encode() in requests[0]


async def test_a_call_that_is_sent_elsewhere_is_not_made_a_second_time(settings: Settings) -> None:
    requests: list[bytes] = []

    async def elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            requests.append(await read_request(reader))
            writer.write(b"HTTP/1.1 307 So\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")

    async with server(elsewhere, settings):
        error = await outcome()

    assert isinstance(error, OutcomeUnknown)
    assert len(requests) == 1


def test_a_host_of_no_proxy_is_called_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "api.telegram.test")

    assert transport.proxy_for("http://api.telegram.test") is None
    assert transport.proxy_for("http://another.test") == "http://127.0.0.1:9"


async def test_calls_go_through_the_proxy_of_the_environment(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await read_request(reader))
        writer.write(response())

    async with server(serve, settings) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.delenv("NO_PROXY", raising=False)
        settings.TELEGRAM_API_URL = "http://api.telegram.test"
        async with open_bot(connections=1) as bot:
            await bot.send_message(1, "Збір")

    assert requests[0].startswith(b"POST http://api.telegram.test/bot")


async def test_a_long_poll_waits_as_long_as_it_was_asked_to(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        await asyncio.sleep(1)
        writer.write(response(b'{"ok":true,"result":[]}'))

    monkeypatch.setattr(transport, "READ_WITHIN", 0.3)
    async with server(late, settings), open_bot(connections=1) as bot:
        assert await bot.fetch_updates(offset=None, wait=1, kinds=["message"]) == []


async def test_no_error_repr_or_traceback_tells_the_token(sandbox: SandboxProcess, settings: Settings) -> None:
    secret = settings.TELEGRAM_BOT_TOKEN.partition(":")[2]
    told: list[str] = []
    faults = ["drop", {"hang": 2}, {"status": 401}, {"status": 502, "body": "no JSON"}]
    nth = enumerate(faults, start=1)
    sandbox.post("/control/faults", [{"fault": fault, "method": "sendMessage", "nth": number} for number, fault in nth])
    async with open_bot(connections=1) as bot:
        told.append(repr(bot))
        for _ in faults:
            with pytest.raises(TelegramError) as caught:
                await bot.send_message(1, "Збір", read_timeout=0.5)
            told += [str(caught.value), *traceback.format_exception(caught.value)]

    assert not [text for text in told if secret in text]


async def test_a_connection_that_idled_is_not_used_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "KEEP_ALIVE", 0.2)
    connections: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        while True:
            await read_request(reader)
            writer.write(response())

    async with server(serve, settings), open_bot(connections=1) as bot:
        await bot.send_message(1, "Збір")
        await asyncio.sleep(0.5)
        await bot.send_message(1, "Збір")

    assert len(connections) == 2
