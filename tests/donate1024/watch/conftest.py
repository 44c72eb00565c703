from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.donate1024.watch.silent import frozen_database, silent_server


@pytest.fixture
def frozen_postgres() -> Iterator[None]:
    with frozen_database():
        yield


@pytest.fixture
def frozen_valkey(settings: Settings) -> Iterator[None]:
    with silent_server() as port:
        settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
        yield
