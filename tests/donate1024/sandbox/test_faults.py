"""Faults that a test asks for."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from telegram import Bot
from telegram.error import BadRequest, ChatMigrated, NetworkError, RetryAfter, TelegramError, TimedOut

from donate1024.sandbox import TOKEN
from donate1024.sandbox.faults import parsed, striking
from tests.donate1024.sandbox.conftest import call
from tests.sandbox_process import SandboxError, SandboxProcess


@pytest.fixture
async def sender(sandbox: SandboxProcess) -> AsyncIterator[Bot]:
    sandbox.post("/control/chats", [{"chat_id": 1}, {"chat_id": 2}])
    async with Bot(TOKEN, base_url=f"{sandbox.url}/bot") as bot:
        yield bot


def fail(sandbox: SandboxProcess, what: Any, **which: Any) -> None:
    sandbox.post("/control/faults", [{"fault": what, **which}])


@pytest.mark.parametrize(
    ("which", "struck"),
    [
        ({}, [0]),
        ({"nth": 2}, [1]),
        ({"nth": 2, "times": 2}, [1, 2]),
        ({"times": 0}, [0, 1, 2, 3, 4]),
        ({"method": "sendPhoto"}, [1]),
        ({"chat_id": 2, "times": 0}, [2, 4]),
        ({"chat_id": 2, "method": "sendMessage", "nth": 2}, [4]),
    ],
)
def test_a_fault_strikes_the_calls_that_it_names(which: dict[str, Any], struck: list[int]) -> None:
    faults = [parsed({"fault": "drop", **which})]
    calls = [("sendMessage", "1"), ("sendPhoto", "1"), ("sendMessage", "2"), ("sendMessage", "1"), ("sendMessage", "2")]

    found = [striking(faults, method, chat_id) for method, chat_id in calls]

    assert [place for place, what in enumerate(found) if what == "drop"] == struck


@pytest.mark.parametrize(
    "fault",
    [
        {},
        {"fault": "fall"},
        {"fault": {}},
        {"fault": {"hang": 1, "delay": 1}},
        {"fault": {"status": 502, "retry_afetr": 3}},
        {"fault": "drop", "metod": "sendMessage"},
        "drop",
    ],
)
def test_a_fault_that_would_never_strike_is_refused(fault: Any) -> None:
    with pytest.raises(ValueError, match="fault"):
        parsed(fault)


@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ({"status": 429, "retry_after": 30}, RetryAfter, "30"),
        ({"status": 400, "description": "Bad Request: not enough rights to send photos"}, BadRequest, "Not enough"),
        ({"status": 400, "description": "x", "parameters": {"migrate_to_chat_id": -1005}}, ChatMigrated, "-1005"),
        ({"status": 502}, NetworkError, "Bad Gateway"),
        ({"status": 200, "body": ""}, TelegramError, "Invalid server response"),
        ("drop", NetworkError, "httpx"),
        ({"hang": 0.1}, NetworkError, "Gateway Timeout"),
    ],
)
async def test_a_failed_call_is_not_accepted(
    sandbox: SandboxProcess, sender: Bot, what: Any, error: type[Exception], text: str
) -> None:
    fail(sandbox, what, method="sendMessage")

    with pytest.raises(error, match=text):
        await sender.send_message(1, "x")

    assert sandbox.sent_to(1) == []
    assert (await sender.send_message(1, "y")).text == "y"


async def test_an_answer_can_be_lost_after_the_message_was_taken(sandbox: SandboxProcess, sender: Bot) -> None:
    fail(sandbox, "drop_after", chat_id=1)

    with pytest.raises(NetworkError):
        await sender.send_message(1, "x")

    assert [entry["text"] for entry in sandbox.sent_to(1)] == ["x"]


async def test_a_delayed_call_is_answered(sandbox: SandboxProcess, sender: Bot) -> None:
    fail(sandbox, {"delay": 0.1}, method="sendMessage")

    assert (await sender.send_message(1, "x")).text == "x"


async def test_hanging_up_does_not_stop_a_delayed_message(sandbox: SandboxProcess, sender: Bot) -> None:
    fail(sandbox, {"delay": 2}, method="sendMessage")

    with pytest.raises(TimedOut):
        await sender.send_message(1, "x", read_timeout=0.2)
    assert sandbox.sent_to(1) == []
    await asyncio.sleep(2)

    assert [entry["text"] for entry in sandbox.sent_to(1)] == ["x"]


def test_a_hanging_call_leaves_the_others_alone(sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1}, {"chat_id": 2}])
    fail(sandbox, {"hang": 30}, chat_id=1)

    async def both() -> float:
        async with aiohttp.ClientSession() as session:
            address = f"{sandbox.url}/bot{TOKEN}/sendMessage"
            hung = asyncio.create_task(session.post(address, data={"chat_id": 1, "text": "x"}))
            await asyncio.sleep(0.2)
            began = time.monotonic()
            async with session.post(address, data={"chat_id": 2, "text": "x"}) as answer:
                assert answer.status == 200
            hung.cancel()
            return time.monotonic() - began

    assert asyncio.run(both()) < 15


def test_faults_can_be_taken_back(sandbox: SandboxProcess) -> None:
    fail(sandbox, {"status": 502}, times=0)
    sandbox.delete("/control/faults")

    assert call(sandbox.url, "getMe")[0] == 200


def test_a_nonsense_fault_is_refused_over_http(sandbox: SandboxProcess) -> None:
    with pytest.raises(SandboxError, match="400"):
        fail(sandbox, "fall")
