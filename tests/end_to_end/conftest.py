from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings as project
from django.db import connection
from pytest_django import Settings

from donate1024.stack import environment
from donate1024.stack.embedded import Postgres, Valkey
from tests.end_to_end.installation import Installation


@pytest.fixture
def installation(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[Installation]:
    """An installation of the test's own, on a clock of its own: at noon, so that no test meets midnight unasked."""
    for url in (project.REDIS_URL, project.LIMITER_URL):
        redis.Redis.from_url(url).flushdb()
    settings.STATE_DIR = tmp_path
    installation = Installation(tmp_path)
    installation.set_clock(hour="12:00:00")
    yield installation
    installation.close()


@pytest.fixture
def postgres(installation: Installation) -> Iterator[Postgres]:
    """A durable PostgreSQL of the test's own, which it may kill; the installation and the test's ORM are on it."""
    with Postgres(installation.folder) as postgres:
        postgres.create_database(environment.DATABASE)
        installation.env["DATABASE_URL"] = environment.database_url(postgres.state)
        assert installation.manage("migrate").returncode == 0
        with pytest.MonkeyPatch.context() as patch:
            connection.close()
            patch.setitem(connection.settings_dict, "HOST", str(postgres.sockets))
            patch.setitem(connection.settings_dict, "NAME", environment.DATABASE)
            patch.setitem(connection.settings_dict, "USER", "postgres")
            yield postgres
            connection.close()
        installation.close()


@pytest.fixture
def valkey(installation: Installation) -> Iterator[Valkey]:
    """A durable Valkey of the test's own, which it may kill; the installation is on it."""
    with Valkey(installation.folder) as valkey:
        installation.env["REDIS_URL"] = environment.redis_url(valkey.state)
        yield valkey
        installation.close()
