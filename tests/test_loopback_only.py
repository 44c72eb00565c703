"""The guard of conftest.py."""

import socket

import pytest

from tests.conftest import OutsideWorld


def test_a_test_cannot_reach_another_machine() -> None:
    with socket.socket() as outside, pytest.raises(OutsideWorld):
        outside.connect(("192.0.2.1", 443))


def test_a_test_can_reach_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())

        assert client.getpeername() == server.getsockname()
