"""`make run` on a fresh, empty state directory: everything, as a person starts it. The tests build on each other."""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import psycopg
import pytest
from dotenv import dotenv_values

from donate1024.stack import environment, ports

pytestmark = pytest.mark.end_to_end


class Run:
    """A supervisor on a state directory and ports of its own, and what it has said so far."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.ports = {name: ports.free() for name in environment.PORTS}
        clean = {name: value for name, value in os.environ.items() if name not in environment.NAMES}
        chosen = {name: str(port) for name, port in self.ports.items()}
        self.env = clean | chosen | {"STATE_DIR": str(state), "DONATE1024_ENV_FILE": "", "COLUMNS": "200"}
        self.said = state.with_suffix(".out")
        self.start()

    def start(self) -> None:
        with self.said.open("w") as output:
            self.process = subprocess.Popen(RUN, cwd=environment.ROOT, env=self.env, stdout=output)
        self.wait_for("donate1024 is running")

    def command(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=environment.ROOT, env=self.env | env, text=True, capture_output=True, check=False
        )

    def wait_for(self, pattern: str) -> None:
        self.until(lambda: re.search(pattern, self.said.read_text()))

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, self.said.read_text()
            time.sleep(0.1)

    def status(self, port: str, path: str, *, method: str = "GET", login: str = "") -> int:
        basic = base64.b64encode(login.encode()).decode()
        connection = HTTPConnection("127.0.0.1", self.ports[port], timeout=10)
        connection.request(method, path, headers={"Authorization": f"Basic {basic}"} if login else {})
        status = connection.getresponse().status
        connection.close()
        return status


RUN = [sys.executable, "-m", "donate1024.stack", "run"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    run = Run(tmp_path_factory.mktemp("run") / "a state with spaces")
    yield run
    run.process.terminate()
    run.process.wait(60)
    shutil.rmtree(environment.socket_dir(run.state))


def test_every_address_of_the_screen_answers(run: Run) -> None:
    flower = dotenv_values(run.state / "secrets.env")["FLOWER_BASIC_AUTH"] or ""

    statuses = [
        run.status("WEB_PORT", "/"),
        run.status("WEB_PORT", "/admin/login/"),
        run.status("SANDBOX_PORT", "/"),
        run.status("FLOWER_PORT", "/workers", login=flower),
    ]

    assert statuses == [200, 200, 200, 200]


def test_flower_shows_nothing_without_its_password_and_changes_nothing_with_it(run: Run) -> None:
    flower = dotenv_values(run.state / "secrets.env")["FLOWER_BASIC_AUTH"] or ""
    send = "/api/task/send-task/delivery.sweep"

    assert run.status("FLOWER_PORT", "/workers") == 401
    assert run.status("FLOWER_PORT", send, method="POST") == 401
    assert run.status("FLOWER_PORT", send, method="POST", login=flower) == 403


def test_management_commands_work_beside_it(run: Run) -> None:
    done = run.command(sys.executable, "manage.py", "shell", "-c", "print(Fundraiser.objects.count(), 'fundraisers')")

    assert re.search(r"^\d\d fundraisers$", done.stdout, re.MULTILINE), done.stderr


def test_the_curator_logs_in_with_the_password_of_the_screen(run: Run) -> None:
    check = "from django.contrib.auth import authenticate; print(authenticate(username='curator', password='{}'))"
    password = dotenv_values(run.state / "secrets.env")["CURATOR_PASSWORD"]

    done = run.command(sys.executable, "manage.py", "shell", "-c", check.format(password))

    assert f"curator / {password}" in run.said.read_text()
    assert done.stdout.endswith("curator\n"), done.stderr


def test_a_second_one_on_the_same_directory_says_so(run: Run) -> None:
    second = run.command(*RUN)

    assert second.returncode == 1
    assert f"already running on {run.state}" in second.stdout


def test_a_busy_port_is_named_and_nothing_is_begun(run: Run, tmp_path: Path) -> None:
    second = run.command(*RUN, STATE_DIR=str(tmp_path / "other"))

    assert second.returncode == 1
    assert f"port {run.ports['WEB_PORT']} is taken: set WEB_PORT" in second.stdout
    assert not (tmp_path / "other" / "postgres").exists()


def test_the_default_setup_needs_few_connections(run: Run) -> None:
    with psycopg.connect(environment.database_url(run.state)) as connection:
        found = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        (count,) = found.fetchone() or (0,)

    assert count <= 20


def test_a_killed_worker_and_a_killed_database_come_back(run: Run) -> None:
    postmaster = int((run.state / "postgres" / "postmaster.pid").read_text().split()[0])
    (worker,) = children_like(run.process.pid, "telegram@")

    os.kill(postmaster, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)

    run.wait_for(r"postgres +killed by SIGKILL(.|\n)+postgres +ready")
    run.wait_for(r"telegram +killed by SIGKILL(.|\n)+telegram +ready")
    assert run.status("WEB_PORT", "/") == 200


def test_after_a_kill_it_starts_again_on_the_same_data(run: Run) -> None:
    secrets = (run.state / "secrets.env").read_text()

    run.process.kill()
    run.process.wait()
    run.start()

    assert (run.state / "secrets.env").read_text() == secrets
    assert [run.status("WEB_PORT", "/"), run.status("SANDBOX_PORT", "/")] == [200, 200]


def test_ctrl_c_stops_everything_in_order_and_leaves_nothing(run: Run) -> None:
    family = children_like(run.process.pid, "")

    run.process.send_signal(signal.SIGINT)

    assert run.process.wait(60) == 0
    stopped = re.findall(r"(\w+) +stopped", run.said.read_text())
    assert stopped == ["flower", "beat", "default", "telegram", "bot", "web", "valkey", "postgres", "sandbox"]
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


def children_like(parent: int, name: str) -> list[int]:
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(parent)], text=True, capture_output=True, check=True
    )
    return [int(line.split(maxsplit=1)[0]) for line in listed.stdout.splitlines() if name in line]
