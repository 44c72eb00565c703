import asyncio
import socket
import time

import pytest

from posts.event_loop import run_without_waiting


async def look_up() -> str:
    try:
        async with asyncio.timeout(0.2):
            await asyncio.get_running_loop().getaddrinfo("monitor.invalid", 443)
    except TimeoutError:
        return "given up"
    return "found"


def test_a_name_server_that_hangs_holds_nobody_up_beyond_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(10))

    began = time.monotonic()
    answer = run_without_waiting(look_up())

    assert answer == "given up"
    assert time.monotonic() - began < 8  # a busy machine


def test_what_is_found_in_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])

    assert run_without_waiting(look_up()) == "found"
