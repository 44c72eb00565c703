"""Real servers, started by a launcher that may be killed."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from donate1024.stack import environment
from donate1024.stack.children import ServerError
from donate1024.stack.embedded import Postgres, Valkey

Launch = Callable[..., subprocess.Popen[str]]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    state = tmp_path / "a path with spaces"
    yield state
    shutil.rmtree(environment.socket_dir(state), ignore_errors=True)


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Starts servers in a process of their own; returns when they answer."""
    launchers: list[subprocess.Popen[str]] = []

    def start(state: Path, *, who: str = "best") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.donate1024.stack.launch", str(state), who]
        launcher = subprocess.Popen(
            command, cwd=environment.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        launchers.append(launcher)
        assert launcher.stdout
        assert launcher.stdout.readline() == "ready\n"
        return launcher

    yield start
    for launcher in launchers:
        launcher.kill()
        launcher.communicate()


def query(state: Path, statement: str) -> object:
    with psycopg.connect(host=str(environment.socket_dir(state) / "pg"), user="postgres", dbname="postgres") as it:
        found = it.execute(statement)
        return found.fetchone() if found.description else None


def valkey(state: Path) -> redis.Redis:
    return redis.Redis.from_url(environment.redis_url(state))


def wait_until_gone(state: Path) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            query(state, "SELECT 1")
        except psycopg.OperationalError:
            return
        time.sleep(0.02)
    pytest.fail("PostgreSQL outlived its launcher")


def test_data_survives_a_killed_launcher_and_the_servers_do_not(state: Path, launch: Launch) -> None:
    first = launch(state)
    query(state, "CREATE TABLE kept AS SELECT 1024 AS number")
    valkey(state).set("kept", "1024")

    first.kill()
    wait_until_gone(state)
    launch(state)

    assert query(state, "SELECT number FROM kept") == (1024,)
    assert valkey(state).get("kept") == b"1024"


def test_a_launcher_killed_in_the_middle_of_a_recovery_leaves_no_postgres_behind(state: Path, launch: Launch) -> None:
    launcher = launch(state)
    postmaster = int((state / "postgres" / "postmaster.pid").read_text().split()[0])
    with psycopg.connect(host=str(environment.socket_dir(state) / "pg"), user="postgres", dbname="postgres") as it:
        os.kill(it.info.backend_pid, signal.SIGKILL)  # as the out-of-memory killer does
    time.sleep(0.1)

    launcher.kill()

    end = time.monotonic() + 30
    while Path(f"/proc/{postmaster}").exists():
        assert time.monotonic() < end, "PostgreSQL outlived its launcher"
        time.sleep(0.05)


def test_two_installations_run_side_by_side(state: Path, tmp_path: Path, launch: Launch) -> None:
    other = tmp_path / "other"
    launch(state)
    launch(other)

    query(state, "CREATE TABLE mine ()")

    assert query(other, "SELECT to_regclass('mine')") == (None,)
    shutil.rmtree(environment.socket_dir(other))


@as_root
def test_root_without_user_namespaces_starts_postgres_as_nobody_in_a_closed_home(state: Path, launch: Launch) -> None:
    state.mkdir(parents=True, mode=0o700)

    launch(state, who="nobody")

    assert query(state, "SELECT 1") == (1,)
    assert (state / "postgres").owner() == "nobody"


@as_root
@pytest.mark.parametrize("user", [pwd.getpwnam("daemon").pw_uid, 54321], ids=["named", "without a name"])
def test_an_ordinary_user_starts_the_servers(state: Path, launch: Launch, user: int) -> None:
    ask = ["setpriv", f"--reuid={user}", "--regid=1", "--clear-groups", "test", "-x"]
    if subprocess.run([*ask, Postgres(state).programs / "postgres"], check=False).returncode:
        pytest.skip("another user cannot read this clone")
    home = Path(tempfile.mkdtemp())  # pytest's own folder is closed to others
    os.chown(home, user, 1)
    try:
        launcher = launch(home, who=str(user))
        owner = (home / "postgres" / "postmaster.pid").stat().st_uid
        launcher.communicate("")
    finally:
        sockets = environment.socket_dir(home)
        shutil.rmtree(sockets.with_name(sockets.name.replace("-0-", f"-{user}-")), ignore_errors=True)
        shutil.rmtree(home)

    assert owner == user
    assert launcher.returncode == 0


def test_a_socket_directory_of_somebody_else_is_refused(state: Path, tmp_path: Path) -> None:
    environment.socket_dir(state).symlink_to(tmp_path)

    try:
        with pytest.raises(ServerError, match="belongs to somebody else"):
            Valkey(state).start()
    finally:
        environment.socket_dir(state).unlink()


def test_a_server_that_cannot_start_says_why(state: Path) -> None:
    (state / "postgres").mkdir(parents=True, mode=0o700)
    (state / "postgres" / "PG_VERSION").write_text("9\n")

    with pytest.raises(ServerError, match="postgres ended at its start"):
        Postgres(state).start()
