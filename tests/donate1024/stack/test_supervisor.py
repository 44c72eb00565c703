"""Small real processes under the real supervisor."""

import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from donate1024.stack.embedded import Postgres
from donate1024.stack.processes import Command, CommandFailed, Process
from donate1024.stack.state import Place
from donate1024.stack.supervisor import STOP_SIGNALS, Supervisor
from donate1024.stack.terminal import Terminal

SLEEP = "import time; print('begun', flush=True); time.sleep(60)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, os.environ.copy())


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    with Supervisor(Terminal()) as supervisor:
        yield supervisor
    for number, handler in before.items():
        signal.signal(number, handler)


def look_until(supervisor: Supervisor, condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it did not come"
        supervisor.look()
        time.sleep(0.02)


def is_alive(process_id: int) -> bool:
    """A killed process that nobody has asked for yet has no command line."""
    try:
        return bool(Path(f"/proc/{process_id}/cmdline").read_bytes())
    except FileNotFoundError:
        return False


def pid(process: Process) -> int:
    assert process.process
    return process.process.pid


def test_what_dies_comes_back_and_the_terminal_says_so(
    supervisor: Supervisor, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    process = Process("web", "-c", SLEEP, place=place, says="begun")
    supervisor.run(process)
    supervisor.look_until_ready(within=10)
    first = pid(process)

    os.kill(first, signal.SIGKILL)
    look_until(supervisor, lambda: pid(process) != first and process.is_ready())

    assert process.returncode is None
    said = [line.split(maxsplit=3)[3] for line in capsys.readouterr().out.splitlines()]
    assert said[:2] == ["started", "ready"]
    assert said[2].startswith("killed by SIGKILL; again in 1 s")
    assert said[3] == "started"


def test_a_database_that_is_told_to_stop_does_not_wait_for_its_clients_and_comes_back(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    postgres = Postgres(tmp_path, durable=False)
    supervisor.serve(postgres)
    assert postgres.process
    first = postgres.process.pid

    with postgres._connect():  # a client that stays
        os.kill(first, signal.SIGTERM)
        look_until(supervisor, lambda: postgres.process and postgres.process.pid != first)

    postgres.probe()
    supervisor.__exit__()
    shutil.rmtree(postgres.sockets.parent)


def test_a_full_disk_under_its_output_does_not_stop_the_supervisor(
    supervisor: Supervisor, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process("web", "-c", SLEEP, place=place, says="begun")
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)

        supervisor.run(process)
        os.kill(pid(process), signal.SIGKILL)
        first = pid(process)
        look_until(supervisor, lambda: pid(process) != first)
        monkeypatch.undo()
        with suppress(OSError):
            full.close()  # writes what it kept

    assert process.returncode is None


def test_the_pause_grows_while_it_keeps_dying_and_the_reason_is_shown(
    supervisor: Supervisor, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor.run(Process("bot", "-c", "raise RuntimeError('no token ' + 'x ' * 50)", place=place))
    supervisor.processes[0].pause = 0.1

    look_until(supervisor, lambda: supervisor.processes[0].pause > 0.5)

    said = capsys.readouterr().out
    assert re.findall(r"ended with 1; again in (\S+) s\n.+ s +RuntimeError: no token x .*…\n", said) == [
        "0.1",
        "0.2",
        "0.4",
    ]
    assert max(map(len, said.splitlines())) <= supervisor.terminal.console.width


def test_what_does_not_stop_in_time_is_killed_with_all_that_it_started(place: Place) -> None:
    starting = f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}]); print(child.pid)"
    process = Process("worker", "-c", f"{starting}; {DEAF}", place=place, says="begun", grace=0.3)
    process.start()
    while not process.is_ready():
        time.sleep(0.02)
    child = int(re.findall(r"\d+", process.log.read_text())[0])

    how = process.stop()

    assert how == "did not stop within 0.3 s: killed"
    end = time.monotonic() + 5  # an orphan is gone when somebody has reaped it
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_alive(child)


def test_processes_stop_in_reverse_order_and_before_the_servers(
    place: Place, supervisor: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor.run(Process("web", "-c", SLEEP, place=place))
    supervisor.serve(Process("sandbox", "-c", SLEEP, place=place))
    supervisor.run(Process("beat", "-c", SLEEP, place=place))
    capsys.readouterr()

    supervisor.__exit__()

    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["beat", "web", "sandbox"]


def test_a_command_that_fails_says_what_it_said(place: Place) -> None:
    with pytest.raises(CommandFailed, match="Unknown command: 'no_such_command'"):
        Command("no_such_command", place=place).output()
