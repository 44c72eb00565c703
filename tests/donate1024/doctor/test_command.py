"""`manage.py doctor` as a process: before the first start, with a wrong setting, with everything hanging."""

import os
import re
import socket
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

from rich.console import Console

from donate1024.doctor.examining import Finding
from donate1024.management.commands.doctor import draw
from donate1024.stack import environment

TOKEN = "123456789:AAF" + "x" * 32


def doctor(state: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.defpath, "DONATE1024_ENV_FILE": "", "STATE_DIR": str(state)} | settings
    command = [sys.executable, "manage.py", "doctor"]
    return subprocess.run(command, cwd=environment.ROOT, env=env, capture_output=True, text=True, check=False)


def states(said: str) -> dict[str, str]:
    """What it said of each part: its name -> its state."""
    found = dict(re.findall(r"^(\S.*?\S) +(ok|mend|off): .", said, re.MULTILINE))
    assert len(found) == len(said.splitlines()), said
    return found


def test_before_the_first_start_it_says_how_to_start(tmp_path: Path) -> None:
    asked = doctor(tmp_path / "none yet")

    assert asked.returncode == 1
    assert {name for name, state in states(asked.stdout).items() if state == "mend"} == {"settings"}
    assert "nothing is wrong: `make run` makes the secrets, PostgreSQL and Valkey" in asked.stdout
    assert "PostgreSQL is not there yet: `make run` makes it" in asked.stdout
    assert states(asked.stdout)["bot"] == "off"
    assert asked.stderr == ""
    assert not (tmp_path / "none yet").exists()


def test_before_the_first_start_the_token_is_looked_at(tmp_path: Path) -> None:
    asked = doctor(tmp_path, TELEGRAM_BOT_TOKEN=TOKEN, TELEGRAM_API_URL="http://127.0.0.1:9")

    assert asked.returncode == 1
    assert states(asked.stdout)["bot"] == "mend"
    assert "Telegram is out of reach" in asked.stdout
    assert "AAF" not in asked.stdout + asked.stderr


def test_a_wrong_port_is_named_before_the_first_start_too(tmp_path: Path) -> None:
    asked = doctor(tmp_path, WEB_PORT="abc")

    assert states(asked.stdout)["settings"] == "mend"
    assert "WEB_PORT: expects a port between 1 and 65535, not 'abc'" in asked.stdout


def test_a_wrong_setting_is_named_without_a_trace(tmp_path: Path) -> None:
    asked = doctor(tmp_path, TELEGRAM_BOT_TOKEN=TOKEN, TIME_ZONE="Kyiv")

    assert asked.returncode == 1
    assert "TIME_ZONE" in asked.stderr
    assert "Traceback" not in asked.stderr


def test_when_everything_hangs_each_is_named_and_it_ends_all_the_same(tmp_path: Path) -> None:
    """Whoever connects is never answered: a database, a Redis, a mail server and four HTTP servers that are frozen."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        frozen = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        asked = doctor(
            tmp_path,
            SECRET_KEY="k" * 50,
            FLOWER_BASIC_AUTH="user:flower-password",
            TELEGRAM_BOT_TOKEN=TOKEN,
            TELEGRAM_API_URL=f"http://{frozen}",
            DATABASE_URL=f"postgres://user:database-password@{frozen}/donate1024",
            REDIS_URL=f"redis://:redis-password@{frozen}/0",
            EMAIL_URL=f"smtp://user:mail-password@{frozen}/",
            ALERT_EMAILS="people@example.org",
            HEARTBEAT_URL=f"http://{frozen}/monitor-secret",
            BLUESKY_HANDLE="name.example.org",
            BLUESKY_APP_PASSWORD="bluesky-password",
            BLUESKY_URL=f"http://{frozen}",
            GEMINI_API_KEY="gemini-secret",
            GEMINI_API_URL=f"http://{frozen}",
        )
        took = time.monotonic() - began

    hanging = {"database", "Redis", "bot", "second route", "outside monitor", "Bluesky", "Gemini"}
    assert {name for name, state in states(asked.stdout).items() if state == "mend"} == hanging
    assert asked.returncode == 1
    assert took < 20 + 20  # 11 s on an idle machine
    assert not re.search("password|secret|AAF", asked.stdout + asked.stderr)


def test_on_a_terminal_a_long_line_stays_in_its_column() -> None:
    console = Console(file=StringIO(), width=80, color_system=None)

    draw([Finding("disk", "ok", "room"), Finding("outside monitor", "mend", "word " * 30)], on=console)

    first, second, *others = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first.rstrip() == "disk             ok: room"
    assert second.startswith("outside monitor  mend: word ")
    assert others
    assert all(line.startswith(" " * 17 + "word") for line in others)
    assert max(map(len, (first, second, *others))) <= 80
