"""What the tests of the delivery stand on: the real Valkey, empty, and English."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
import redis
from celery import Celery
from django.conf import settings
from django.utils import translation

from donate1024.celery import app


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

    def to(moment: datetime) -> None:
        file.write_text(str((moment - datetime.now(UTC)).total_seconds()))

    yield to
    file.unlink(missing_ok=True)


@pytest.fixture
def broker_away() -> Iterator[None]:
    """The queue cannot be reached."""
    away = Celery("away")
    away.config_from_object("django.conf:settings", namespace="CELERY")
    away.conf.update(broker_url="redis+socket:///nowhere/valkey.sock")
    yield
    app.set_current()
