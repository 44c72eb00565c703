import logging
import os
import subprocess
import sys

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy

from donate1024.log_format import RedactingFormatter
from donate1024.stack.environment import ROOT

TOKEN = "987654321:AAH-tests-aaaaaaaaaaaaaaaaaaaaaaaaaaa"

# Each of the three sets the logging up for itself.
LOGS = f"""
import logging, sys, tornado.log, uvicorn
uvicorn.Config("donate1024.asgi:application").configure_logging()
tornado.log.enable_pretty_logging()
import django
django.setup()
from donate1024.celery import app
app.log.setup(loglevel="INFO", redirect_stdouts=True)
logging.getLogger(sys.argv[1]).error("asked %s", "{TOKEN}")
"""
DIES = f"""
import gc, sys, threading
from donate1024.log_format import redact_uncaught
redact_uncaught()
class Dropped:
    def __del__(self):
        raise ValueError("dropped {TOKEN}")
Dropped()
def work():
    raise ValueError("thread {TOKEN}")
thread = threading.Thread(target=work)
thread.start()
thread.join()
quiet = threading.Thread(target=sys.exit)
quiet.start()
quiet.join()
raise ValueError("main {TOKEN}")
"""


def test_a_line_its_traceback_and_its_stack_are_redacted() -> None:
    try:
        int(TOKEN)
    except ValueError:
        failure = sys.exc_info()
    record = logging.LogRecord("name", logging.ERROR, "path", 1, "asked %s", (f"/bot{TOKEN}/getMe",), failure)
    record.stack_info = f"Stack: {TOKEN}"

    line = RedactingFormatter("{levelname} {message}", style="{").format(record)

    assert line.startswith("ERROR asked /bot[TELEGRAM_BOT_TOKEN]/getMe\nTraceback")
    assert "'[TELEGRAM_BOT_TOKEN]'\nStack: [TELEGRAM_BOT_TOKEN]" in line


def test_a_line_is_english_whatever_the_language_of_the_process() -> None:
    record = logging.LogRecord("name", logging.ERROR, "path", 1, "paused: %s", (gettext_lazy("quiet hour"),), None)

    with translation.override("uk"):
        line = RedactingFormatter().format(record)
        assert record.getMessage() != line

    assert line == "paused: quiet hour"


@pytest.mark.parametrize(
    "name", ["", "django.request", "django.server", "uvicorn.error", "uvicorn.access", "celery.task"]
)
def test_no_library_writes_past_the_redacting_formatter(name: str) -> None:
    written = _run(LOGS, name).stderr

    assert written.count("asked [TELEGRAM_BOT_TOKEN]") == 1
    assert TOKEN not in written


def test_what_nobody_catches_is_printed_redacted() -> None:
    ended = _run(DIES)

    assert ended.returncode == 1
    for where in ("dropped", "thread", "main"):
        assert f"ValueError: {where} [TELEGRAM_BOT_TOKEN]" in ended.stderr
    assert ended.stderr.count("Traceback") == 3  # none for a thread that ends itself
    assert TOKEN not in ended.stderr


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("DATABASE_URL", "postgres://user:do/not/tell@host/name"),
        ("DATABASE_URL", "postgres://user:do-not-tell@host:port/name"),
        ("DATABASE_URL", "postgres://user:do-not-tell@127.0.0.1:9/name"),
        ("REDIS_URL", "redis://:do/not/tell@host"),
        ("TELEGRAM_BOT_TOKEN", "do-not-tell"),
        ("HEARTBEAT_URL", "ftp://host/do-not-tell"),
        ("EMAIL_URL", "smtp://user:do-not[tell@host:587"),
    ],
)
def test_a_start_that_fails_tells_no_secret(setting: str, value: str) -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "DONATE1024_ENV_FILE": "",
        "DONATE1024_SANDBOX": "1",
        "SECRET_KEY": "x" * 50,
        "TELEGRAM_API_URL": "http://127.0.0.1:9",
        "DATABASE_URL": "postgres://127.0.0.1:9/nobody",
        setting: value,
    }

    started = subprocess.run(
        [sys.executable, "manage.py", "broadcast", "status"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert started.returncode == 1
    assert "tell" not in started.stdout + started.stderr


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "donate1024.settings", "DEBUG": "1"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
