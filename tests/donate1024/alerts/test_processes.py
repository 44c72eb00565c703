"""Several processes, and processes that end: each a real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as project
from django.db import connection

from donate1024.alerts.models import Alert
from tests.donate1024.alerts.conftest import OPERATOR, Phone
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)

BEGIN = """
import logging, os, sys
import django
django.setup()
log = logging.getLogger("posts.a_test")
text = "The roof leaks. People get wet. What to do: take an umbrella."
"""


def begin(code: str, *, telegram: SandboxProcess, folder: Path, **env: str) -> subprocess.Popen[str]:
    """A process of ours that does this, on the test's database."""
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "donate1024.settings",
        "DATABASE_URL": os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{connection.settings_dict['NAME']}",
        "TELEGRAM_API_URL": telegram.url,
        "TELEGRAM_ADMIN_CHATS": str(OPERATOR),
        "STATE_DIR": str(folder),
    } | env  # fmt: skip
    command = [sys.executable, "-W", "ignore", "-c", BEGIN + code]
    return subprocess.Popen(
        command,
        env=env,
        cwd=project.BASE_DIR,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def end(process: subprocess.Popen[str], *, status: int = 0) -> str:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == status, said
    return said


def test_many_processes_tell_one_alert_once(telegram: SandboxProcess, phone: Phone, tmp_path: Path) -> None:
    code = "for _ in range(50): log.error(text, extra={'opens': 'roof'})"

    for process in [begin(code, telegram=telegram, folder=tmp_path) for _ in range(3)]:
        end(process)

    assert len(phone.texts()) == 1
    assert Alert.objects.get().count == 150


def test_a_process_that_dies_right_after_its_critical_has_told(
    telegram: SandboxProcess, phone: Phone, tmp_path: Path
) -> None:
    process = begin("log.critical(text); os._exit(3)", telegram=telegram, folder=tmp_path)

    end(process, status=3)

    assert len(phone.texts()) == 1


def test_a_process_that_ends_right_after_its_error_has_told(
    telegram: SandboxProcess, phone: Phone, tmp_path: Path
) -> None:
    process = begin("log.error(text); sys.exit(3)", telegram=telegram, folder=tmp_path)

    end(process, status=3)

    assert len(phone.texts()) == 1


def test_a_forked_child_tells_too_and_what_its_parent_had_heard_only_once(
    telegram: SandboxProcess, phone: Phone, tmp_path: Path
) -> None:
    code = """
log.error(text)
if os.fork() == 0:
    log.error("The cellar is wet. What to do: pump.")
    sys.exit(0)
os.wait()
"""

    end(begin(code, telegram=telegram, folder=tmp_path))

    assert len(phone.texts()) == 2
    assert sorted(Alert.objects.values_list("count", flat=True)) == [1, 1]


def test_a_process_without_database_telegram_and_mail_ends_all_the_same(
    telegram: SandboxProcess, phone: Phone, tmp_path: Path
) -> None:
    nowhere = {"DATABASE_URL": "postgres://127.0.0.1:9/nobody", "REDIS_URL": "redis://127.0.0.1:9/0"}
    code = "log.critical(text); print('over')"

    process = begin(code, telegram=telegram, folder=tmp_path, TELEGRAM_API_URL="http://127.0.0.1:9", **nowhere)

    assert "over" in end(process)
    assert phone.texts() == []


def test_without_database_and_valkey_it_is_told(telegram: SandboxProcess, phone: Phone, tmp_path: Path) -> None:
    nowhere = {"DATABASE_URL": "postgres://127.0.0.1:9/nobody", "REDIS_URL": "redis://127.0.0.1:9/0"}

    end(begin("log.error(text)", telegram=telegram, folder=tmp_path, **nowhere))

    assert len(phone.texts()) == 1


def test_a_thread_that_could_not_begin_begins_with_the_next_alert(
    telegram: SandboxProcess, phone: Phone, tmp_path: Path
) -> None:
    code = """
import threading
size = threading.stack_size(2 ** 46)  # more than there is: no thread begins
log.critical(text)
threading.stack_size(size)
log.critical("The cellar is wet. What to do: pump.")
os._exit(3)
"""

    end(begin(code, telegram=telegram, folder=tmp_path), status=3)

    assert len(phone.texts()) == 2
