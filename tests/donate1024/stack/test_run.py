"""`make run` on a fresh, empty state directory: everything, as a person starts it. The tests build on each other."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from dotenv import dotenv_values

from donate1024.stack import environment
from tests.donate1024.stack.running import RUN, Run

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with Run(tmp_path_factory.mktemp("run") / "a state with spaces") as run:
        yield run


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


def test_the_screens_links_open_the_phones(run: Run) -> None:
    run.wait_for("Next: ")

    screen = run.said.read_text()
    links = re.findall(rf"^  http://127\.0\.0\.1:{run.ports['SANDBOX_PORT']}(/\?start=[\w-]+)$", screen, re.MULTILINE)

    assert len(links) == 2, screen
    assert [run.status("SANDBOX_PORT", link) for link in links] == [200, 200]
    assert "/admin/first/" not in screen  # the curator has a password


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
    (worker,) = run.children("telegram@")

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
    family = run.children()

    run.process.send_signal(signal.SIGINT)

    assert run.process.wait(60) == 0
    stopped = re.findall(r"(\w+) +stopped", run.said.read_text())
    assert stopped == ["flower", "beat", "default", "telegram", "bot", "web", "valkey", "postgres", "sandbox"]
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]
