from collections.abc import Iterator
from socket import socket

import pytest
from pytest_django import Settings

from tests.donate1024.watch.silent import frozen_database, port, silent_server


@pytest.fixture
def frozen_postgres() -> Iterator[socket]:
    with frozen_database() as server:
        yield server


@pytest.fixture
def frozen_valkey(settings: Settings) -> Iterator[None]:
    with silent_server() as server:
        settings.REDIS_URL = f"redis://127.0.0.1:{port(server)}/0"
        yield
