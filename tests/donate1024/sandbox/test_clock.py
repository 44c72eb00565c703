"""The clock that the phones' "next morning" moves."""

import time as system_clock
from datetime import datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from donate1024.sandbox.clock import Clock
from tests.sandbox_process import SandboxProcess

KYIV = ZoneInfo("Europe/Kyiv")


def clock_at(state: Path, moment: str) -> Clock:
    goal = datetime.fromisoformat(moment).replace(tzinfo=KYIV).timestamp()
    (state / "clock-offset").write_text(str(goal - system_clock.time()))
    return Clock(state, KYIV, time(8))


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2026-11-30T07:00", "2026-11-30T07:59:55"),
        ("2026-11-30T08:00", "2026-12-01T07:59:55"),
        ("2026-11-30T07:59:57", "2026-12-01T07:59:55"),  # never back
        ("2027-03-27T20:00", "2027-03-28T07:59:55"),  # the night of 23 hours
        ("2027-10-30T20:00", "2027-10-31T07:59:55"),  # and of 25
    ],
)
def test_the_next_morning_is_the_next_one(tmp_path: Path, now: str, then: str) -> None:
    moment = clock_at(tmp_path, now).jump_to_next_morning()

    assert (moment - datetime.fromisoformat(then).replace(tzinfo=KYIV)).total_seconds() == pytest.approx(0, abs=2)


def test_without_a_file_the_clock_is_the_machine_s(tmp_path: Path) -> None:
    clock = Clock(tmp_path, KYIV, time(8))

    assert clock.now() == pytest.approx(system_clock.time(), abs=2)
    (tmp_path / "clock-offset").write_text("")
    assert clock.offset() == 0


def test_everything_is_stamped_by_the_moved_clock(tmp_path: Path, sandbox: SandboxProcess) -> None:
    before = datetime.fromisoformat(sandbox.get("/control/clock")["now"])

    moved = datetime.fromisoformat(sandbox.post("/control/next-morning")["now"])
    sandbox.post("/control/chats", [{"chat_id": 1}])
    sandbox.post("/control/say", {"chat_id": 1, "text": "доброго ранку"})

    (message,) = sandbox.get("/control/phone/1")["messages"]
    assert moved > before
    assert (moved.hour, moved.minute, moved.utcoffset()) == (7, 59, moved.astimezone(KYIV).utcoffset())
    assert message["date"] == pytest.approx(moved.timestamp(), abs=30)
    assert float((tmp_path / "clock-offset").read_text()) == sandbox.get("/control/clock")["offset"]
