import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings

from tests.end_to_end.installation import Installation


@pytest.fixture
def installation(transactional_db: None, tmp_path: Path) -> Iterator[Installation]:
    """An installation of the test's own; the clock goes right again after it."""
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    redis.Redis.from_url(settings.LIMITER_URL).flushdb()
    installation = Installation(tmp_path)
    yield installation
    installation.close()
    Path(os.environ["STATE_DIR"], "clock-offset").unlink(missing_ok=True)
