from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings as project
from pytest_django import Settings

from tests.end_to_end.installation import Installation


@pytest.fixture
def installation(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[Installation]:
    """An installation of the test's own, on a clock of its own."""
    for url in (project.REDIS_URL, project.LIMITER_URL):
        redis.Redis.from_url(url).flushdb()
    settings.STATE_DIR = tmp_path
    installation = Installation(tmp_path)
    yield installation
    installation.close()
