from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import Settings

from tests.donate1024.watch.silent import silent_server


@pytest.fixture
def frozen_postgres() -> Iterator[None]:
    with silent_server() as port, pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", port)
        yield


@pytest.fixture
def frozen_valkey(settings: Settings) -> Iterator[None]:
    with silent_server() as port:
        settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
        yield
