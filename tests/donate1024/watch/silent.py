"""A server that takes connections and never says a word, as a frozen one does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection


@contextmanager
def silent_server() -> Iterator[int]:
    """Its port; the system answers for it as long as nobody calls `accept`."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield server.getsockname()[1]


@contextmanager
def frozen_database() -> Iterator[None]:
    """For whoever connects meanwhile."""
    with silent_server() as port, pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", port)
        yield
