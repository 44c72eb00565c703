"""How many messages a second Telegram takes."""

from datetime import timedelta
from pathlib import Path

import pytest
from telegram import Bot
from telegram.error import RetryAfter

from donate1024.sandbox import TOKEN
from donate1024.sandbox.flood import Flood
from donate1024.sandbox.refusals import Refused
from tests.donate1024.sandbox.conftest import call
from tests.sandbox_process import SandboxProcess


def waits(flood: Flood, *moments: float) -> list[int]:
    """Seconds to wait, for each moment at which a message came; 0 where it was taken."""
    return [wait(flood, at) for at in moments]


def wait(flood: Flood, at: float) -> int:
    try:
        flood.take(at=at)
    except Refused as refused:
        seconds: int = (refused.parameters or {})["retry_after"]
        return seconds
    return 0


def test_a_second_takes_so_many_wherever_it_begins() -> None:
    assert waits(Flood(2), 0, 0.75, 1.0, 1.75, 2.0) == [0] * 5
    assert waits(Flood(2), 0.5, 0.75, 1.25) == [0, 0, 1]


def test_a_flood_shuts_the_door_for_a_second() -> None:
    assert waits(Flood(1), 0, 0.75, 1.0, 1.5, 1.75) == [0, 1, 1, 1, 0]


def test_without_a_rate_everything_is_taken() -> None:
    assert waits(Flood(None), *[0] * 1000) == [0] * 1000


async def test_a_flood_is_answered_429(sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1}])
    async with Bot(TOKEN, base_url=f"{sandbox.url}/bot") as bot:
        await bot.send_message(1, "1")
        sandbox.post("/control/rate", {"per_second": 0})

        with pytest.raises(RetryAfter) as flood:
            await bot.send_message(1, "2")

    assert flood.value.retry_after == timedelta(seconds=1)
    assert [entry["text"] for entry in sandbox.sent_to(1)] == ["1"]
    assert [entry["status"] for entry in sandbox.get("/control/calls")] == [200, 200, 429]


def test_the_rate_of_the_command_line_holds(tmp_path: Path) -> None:
    with SandboxProcess(tmp_path, rate=2) as sandbox:
        sandbox.post("/control/chats", [{"chat_id": 1}])

        statuses = [call(sandbox.url, "sendMessage", chat_id=1, text="x")[0] for _ in range(200)]

        assert statuses[:2] == [200, 200]
        assert 429 in statuses
