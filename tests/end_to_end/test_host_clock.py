"""A host whose clock is wrong: its worker and beat do not start, and say why."""

import re
import sys

import pytest

from donate1024.stack import ports, roles
from donate1024.stack.embedded import Postgres
from donate1024.stack.state import Place
from donate1024.stack.supervisor import Supervisor
from donate1024.stack.terminal import Terminal
from tests.end_to_end.installation import CELERY, Installation, Process
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

# Python runs it at its start: this process' clock is AHEAD seconds ahead of everybody else's.
SITECUSTOMIZE = """
import datetime, os, time
ahead = float(os.environ["AHEAD"])
real, real_time, real_time_ns = datetime.datetime, time.time, time.time_ns
time.time = lambda: real_time() + ahead
time.time_ns = lambda: real_time_ns() + int(ahead * 1e9)

class AlsoReal(type):
    def __instancecheck__(cls, it):
        return isinstance(it, real)

class Shifted(real, metaclass=AlsoReal):
    @classmethod
    def now(cls, tz=None):
        return real.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls):
        return real.now(datetime.timezone.utc).replace(tzinfo=None) + datetime.timedelta(seconds=ahead)

datetime.datetime = Shifted
"""
ROLES = {"worker": ["worker", "-Q", "telegram,default", "-c", "1"], "beat": ["beat", "--pidfile="]}


def test_the_supervisor_shows_the_reason_on_the_screen(
    installation: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    beat = roles.beat(Place(installation.folder, installation.env | host(installation, ahead=3600)))
    supervisor = Supervisor(Terminal())
    supervisor.run(beat)

    installation.wait_until(lambda: beat.returncode == 1, what="beat to be refused")
    supervisor.look()

    assert re.search(r"ended with 1; again in 1 s\n.* The clock of the computer \S+ is ", capsys.readouterr().out)
    assert re.search(
        r"The clock of the computer \S+ is 3600 s ahead of the database's\. .*"
        r"By Telegram's clock this computer's is the wrong one\. .*What to do: ",
        beat.log.read_text(),
    )


def start(installation: Installation, role: str, *, ahead: float, **env: str) -> Process:
    return on_host(installation, role, *CELERY[1:], *ROLES[role], "-l", "info", ahead=ahead, **env)


def on_host(installation: Installation, name: str, *arguments: str, ahead: float, **env: str) -> Process:
    """A Python program on a host of its own, whose clock is so many seconds ahead."""
    return installation.start(name, sys.executable, *arguments, **env | host(installation, ahead=ahead))


def host(installation: Installation, *, ahead: float) -> dict[str, str]:
    folder = installation.folder / "host"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE)
    return {"PYTHONPATH": str(folder), "AHEAD": str(ahead)}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("ahead", "words"), [(3600, "ahead of"), (-45, "behind")])
def test_a_clock_that_is_far_off_stops_the_start_before_any_task(
    installation: Installation, role: str, ahead: float, words: str
) -> None:
    make_fundraiser()
    installation.add_people(1)
    installation.manage("broadcast", "start", "--now")  # work that waits

    process = start(installation, role, ahead=ahead)

    assert process.process.wait(60) == 1
    (last,) = [line for line in process.written().splitlines() if " CRITICAL " in line]
    assert re.search(
        rf"CRITICAL .*: The clock of the computer \S+ is {abs(ahead):.0f} s {words} the database's\.", last
    )
    assert "By Telegram's clock this computer's is the wrong one. " in last
    assert " ready." not in process.written()
    assert "Sending due task" not in process.written()
    assert installation.served() == {}


def test_where_telegram_agrees_with_the_host_the_database_is_told_to_be_wrong(installation: Installation) -> None:
    port = ports.free()
    on_host(installation, "telegram", "-m", "http.server", "--bind", "127.0.0.1", str(port), ahead=3600)
    installation.wait_until(lambda: ports.answers(port), what="a server whose clock is an hour ahead, too")

    worker = start(installation, "worker", ahead=3600, TELEGRAM_API_URL=f"http://127.0.0.1:{port}")

    assert worker.process.wait(60) == 1
    assert "By Telegram's clock the database's is the wrong one." in worker.written()


def test_without_telegram_it_does_not_guess(installation: Installation) -> None:
    process = start(installation, "beat", ahead=-3600, TELEGRAM_API_URL="http://127.0.0.1:9")

    assert process.process.wait(60) == 1
    assert "3600 s behind the database's. Telegram, whose clock would tell which one is wrong" in process.written()


@pytest.mark.parametrize("ahead", [20, -20])
def test_a_clock_20_s_off_starts_and_sends(installation: Installation, ahead: float) -> None:
    make_fundraiser()
    people = installation.add_people(5)
    beat = start(installation, "beat", ahead=ahead)
    worker = start(installation, "worker", ahead=ahead)

    assert installation.manage("broadcast", "start", "--now").returncode == 0

    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)
    for process in (worker, beat):
        process.wait_for("The clocks of this host and of the database agree")
        assert process.is_alive


def test_a_worker_waits_for_a_database_that_is_away_and_is_refused_when_it_is_back(
    installation: Installation, postgres: Postgres
) -> None:
    postgres.stop()
    waiting = "The database does not answer, so its clock cannot be compared yet: waiting."
    worker, late = (start(installation, "worker", ahead=ahead).wait_for(waiting) for ahead in (0, 3600))

    postgres.start()

    worker.wait_for(" ready.")
    assert late.process.wait(60) == 1
    assert worker.written().count(waiting) == 1
