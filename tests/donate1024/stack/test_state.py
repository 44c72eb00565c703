import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from dotenv import dotenv_values

from donate1024.stack import state
from donate1024.stack.secrets_file import WrongState, keep_secrets
from donate1024.stack.state import StateInUse, claimed


def test_a_second_supervisor_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path), pytest.raises(StateInUse, match=str(tmp_path)), claimed(tmp_path):
        pass


def test_a_supervisor_waits_for_the_children_of_a_killed_one(tmp_path: Path) -> None:
    with claimed(tmp_path) as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=[lock])
    threading.Timer(0.3, child.kill).start()
    began = time.monotonic()

    with claimed(tmp_path):
        waited = time.monotonic() - began

    child.wait()
    assert waited >= 0.3


def test_a_frozen_child_of_a_killed_supervisor_does_not_stop_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "LEFTOVERS_END_WITHIN", 0.3)
    with claimed(tmp_path) as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=[lock])
    child.send_signal(signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    child.terminate()  # as the kernel does at the supervisor's death; it does not hear of it

    with claimed(tmp_path):
        pass

    assert child.wait() == -signal.SIGKILL


def test_secrets_are_made_once_and_read_by_their_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "secrets.env"

    keep_secrets(tmp_path, sandbox_port=8081)
    first = dotenv_values(file)
    keep_secrets(tmp_path, sandbox_port=9999)
    second = dotenv_values(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert second == first | {"TELEGRAM_API_URL": "http://127.0.0.1:9999"}
    assert len(first["SECRET_KEY"] or "") >= 50


@pytest.mark.parametrize(("begun", "then"), [(8081, None), (None, 8081)])
def test_the_sandbox_and_a_real_bot_never_share_a_directory(
    tmp_path: Path, begun: int | None, then: int | None
) -> None:
    keep_secrets(tmp_path, sandbox_port=begun)

    with pytest.raises(WrongState, match="STATE_DIR"):
        keep_secrets(tmp_path, sandbox_port=then)
