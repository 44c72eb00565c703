"""What the tests of the delivery stand on: the real Valkey, empty, and English."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
import redis
from celery import Celery
from django.conf import LazySettings, settings
from django.utils import translation

from delivery import brakes, stopping
from donate1024.celery import app
from tests.admin_chat import ADMIN, SECOND_ADMIN, open_chat
from tests.sandbox_process import SandboxProcess


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture(autouse=True)
def broker() -> Iterator[redis.Redis]:
    """The database of Celery's queues. It and the limiter's are empty when a test begins."""
    with redis.Redis.from_url(settings.REDIS_URL) as broker, redis.Redis.from_url(settings.LIMITER_URL) as limiter:
        broker.flushdb()
        limiter.flushdb()
        yield broker


@pytest.fixture
def set_clock() -> Iterator[Callable[[datetime], None]]:
    """Sets the sandbox's clock; it goes on from there."""
    file = settings.STATE_DIR / "clock-offset"
    file.parent.mkdir(exist_ok=True)  # one that Django remembers from another session of this process

    def to(moment: datetime) -> None:
        file.write_text(str((moment - datetime.now(UTC)).total_seconds()))

    yield to
    file.unlink(missing_ok=True)


@pytest.fixture
def broker_away(settings: LazySettings) -> Iterator[None]:
    """The queue cannot be reached."""
    settings.CELERY_BROKER_URL = "redis+socket:///nowhere/valkey.sock"
    away = Celery("away")
    away.config_from_object("django.conf:settings", namespace="CELERY")
    yield
    app.set_current()


@pytest.fixture(autouse=True)
def _no_part_of_the_sweep_fails_unnoticed(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A test that lets one fail clears the log."""
    yield
    failed = [record for record in caplog.get_records("call") if record.name == "delivery.sweeping" and record.exc_info]
    assert failed == []


@pytest.fixture(scope="session")
def _sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("sandbox")) as sandbox:
        yield sandbox


@pytest.fixture
def telegram(_sandbox: SandboxProcess, settings: LazySettings) -> SandboxProcess:
    """The sandbox without faults and without a limit of its own, for a fast sender."""
    _sandbox.delete("/control/faults")
    settings.TELEGRAM_API_URL = _sandbox.url
    settings.TELEGRAM_MESSAGES_PER_SECOND = 200
    return _sandbox


@pytest.fixture
def admin_chats(telegram: SandboxProcess, settings: LazySettings) -> None:
    """Two chats that may keep the witness; the settings name the first one."""
    for chat_id in (ADMIN, SECOND_ADMIN):
        open_chat(telegram, chat_id)
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN]


@pytest.fixture
def short_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second, where we choose how long."""
    monkeypatch.setattr(brakes, "FIRST_HOLD", timedelta(seconds=0.5))


@pytest.fixture
def stop() -> Iterator[Callable[[], None]]:
    """Tells the worker to stop; the next test's goes on."""
    yield stopping.request_stop
    stopping._flag.value = False
