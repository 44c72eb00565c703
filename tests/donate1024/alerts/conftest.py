"""What the tests of the alerts stand on: a process' folding of its own, the sandbox, a mail server, English."""

import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import LazySettings
from django.utils import translation

from donate1024.alerts import folding
from donate1024.alerts.folding import Folding
from donate1024.alerts.handler import AlertHandler
from posts import clock
from tests.mail_server import MailServer
from tests.sandbox_process import SandboxProcess

CURATOR, OPERATOR = 501, 502
ROOF = "The roof leaks in %s places. People get wet. What to do: take an umbrella."


@pytest.fixture(autouse=True)
def _alone_in_english(settings: LazySettings, tmp_path: Path) -> Iterator[None]:
    """A state of its own, and no flood wait of another test."""
    settings.STATE_DIR, settings.LANGUAGE_CODE = tmp_path, "en"
    with redis.Redis.from_url(settings.LIMITER_URL) as limiter:
        limiter.flushdb()
    with translation.override("en"):
        yield


@pytest.fixture(scope="session")
def _sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("sandbox")) as sandbox:
        yield sandbox


@pytest.fixture
def telegram(_sandbox: SandboxProcess, settings: LazySettings) -> SandboxProcess:
    """The sandbox, in which the operator's chat is open, and named in the settings."""
    _sandbox.delete("/control/faults")
    _sandbox.post("/control/chats", [{"chat_id": chat, "state": "open"} for chat in (CURATOR, OPERATOR)])
    settings.TELEGRAM_API_URL = _sandbox.url
    settings.TELEGRAM_ADMIN_CHATS = [OPERATOR]
    return _sandbox


class Phone:
    """What a chat was told since the test began."""

    def __init__(self, telegram: SandboxProcess, chat_id: int) -> None:
        self._telegram, self._chat_id = telegram, chat_id
        self._before = len(telegram.sent_to(chat_id))

    def messages(self) -> list[dict[str, Any]]:
        return self._telegram.sent_to(self._chat_id)[self._before :]

    def texts(self) -> list[str]:
        return [message["text"] for message in self.messages()]


@pytest.fixture
def phone(telegram: SandboxProcess) -> Phone:
    return Phone(telegram, OPERATOR)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Folding]:
    """The folding of a process that has just begun."""
    ours = Folding()
    monkeypatch.setattr(folding, "FOLDING", ours)
    monkeypatch.setattr(folding, "NAP", 0.05)
    yield ours
    ours.close()
    for thread in threading.enumerate():  # none may look into the database while it is emptied for the next test
        if thread.name.startswith(folding.THREAD):
            thread.join(60)


@pytest.fixture
def handler(process: Folding) -> Iterator[AlertHandler]:
    handler = AlertHandler()
    yield handler
    handler.close()


@pytest.fixture
def log(handler: AlertHandler) -> Iterator[logging.Logger]:
    """A logger that only the alerts hear."""
    logger = logging.getLogger("posts.tests_of_alerts")
    logger.propagate, logger.level = False, logging.INFO
    logger.addHandler(handler)
    yield logger
    logger.removeHandler(handler)


class Clock:
    """The sandbox's clock, which a test sets."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock-offset"

    def set(self, moment: datetime) -> None:
        self._file.write_text(str((moment - datetime.now(UTC)).total_seconds()))

    def go_on(self, by: timedelta) -> None:
        self._file.write_text(str((clock.offset() + by).total_seconds()))


@pytest.fixture
def time(tmp_path: Path) -> Clock:
    """It is noon of a day in winter."""
    time = Clock(tmp_path)
    time.set(datetime(2026, 1, 15, 10, tzinfo=UTC))
    return time


@pytest.fixture
def mail_server(settings: LazySettings) -> Iterator[MailServer]:
    """ALERT_EMAILS and EMAIL_URL name it."""
    with MailServer() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", server.port, 5
        settings.ALERT_EMAILS = ["curator@example.org"]
        yield server
