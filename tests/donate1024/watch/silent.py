"""A server that takes connections and never says a word, as a frozen one does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection


@contextmanager
def silent_server() -> Iterator[socket.socket]:
    """The system answers for it as long as nobody calls `accept`."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        server.setblocking(False)
        yield server


def port(server: socket.socket) -> int:
    number: int = server.getsockname()[1]
    return number


def connections(server: socket.socket) -> int:
    """How many there were."""
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


@contextmanager
def frozen_database() -> Iterator[socket.socket]:
    """For whoever connects meanwhile."""
    with silent_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", port(server))
        yield server
