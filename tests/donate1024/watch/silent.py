"""A server that takes connections and never says a word, as a frozen one does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_server() -> Iterator[int]:
    """Its port; the system answers for it as long as nobody calls `accept`."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield server.getsockname()[1]
