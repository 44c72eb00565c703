"""Connections that end in each of the ways in which networks end them."""

import socket
import time

import pytest

from donate1024.sandbox import TOKEN
from tests.sandbox_process import SandboxError, SandboxProcess

SEND = f"GET /bot{TOKEN}/sendMessage?chat_id=1&text=x HTTP/1.1\r\nHost: x\r\n\r\n".encode()


@pytest.fixture
def line(sandbox: SandboxProcess) -> socket.socket:
    sandbox.post("/control/chats", [{"chat_id": 1}])
    return connect(sandbox)


def connect(sandbox: SandboxProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(sandbox.url.rpartition(":")[2])), timeout=10)


def send(line: socket.socket) -> bytes:
    """What comes back, empty where the other side closed."""
    line.sendall(SEND)
    return line.recv(4096)


@pytest.mark.parametrize("kind", ["drop", "reset"])
@pytest.mark.parametrize("is_accepted", [False, True], ids=["before", "after"])
def test_a_connection_ends_by_a_close_or_by_a_reset(
    sandbox: SandboxProcess, line: socket.socket, kind: str, *, is_accepted: bool
) -> None:
    sandbox.post("/control/faults", [{"fault": f"{kind}_after" if is_accepted else kind}])

    if kind == "reset":
        with line, pytest.raises(ConnectionResetError):
            send(line)
    else:
        with line:
            assert send(line) == b""

    assert len(sandbox.sent_to(1)) == is_accepted


def test_an_idle_connection_is_closed_and_a_busy_one_is_not(sandbox: SandboxProcess, line: socket.socket) -> None:
    sandbox.post("/control/idle-connections", {"fate": "close", "after": 1})

    with line:
        for _ in range(4):
            assert send(line)
            time.sleep(0.4)
        assert line.recv(1) == b""

    assert len(sandbox.sent_to(1)) == 4


def test_a_dead_connection_swallows_the_next_request(sandbox: SandboxProcess, line: socket.socket) -> None:
    sandbox.post("/control/idle-connections", {"fate": "swallow", "after": 0.5})
    with line:
        assert send(line)
        time.sleep(1)
        line.settimeout(1)
        with pytest.raises(TimeoutError):
            send(line)

    with connect(sandbox) as fresh:
        assert send(fresh)
    assert len(sandbox.sent_to(1)) == 2


def test_an_unknown_fate_is_refused(sandbox: SandboxProcess) -> None:
    with pytest.raises(SandboxError, match="400"):
        sandbox.post("/control/idle-connections", {"fate": "die"})
