"""No test speaks to the outside world."""

import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from donate1024.alerts.handler import AlertHandler


class OutsideWorld(Exception):
    """A test tried to reach another machine."""


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Sockets reach this machine only: a forgotten fake must fail here, not post to somebody."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        yield


@pytest.fixture(autouse=True, scope="session")
def nobody_is_alarmed() -> None:
    """What goes wrong in a test's own process makes no alert; the processes that tests start do tell theirs."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler, AlertHandler):
            root.removeHandler(handler)


def _guarded(connect: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
    def to_loopback(self: socket.socket, address: Any) -> Any:
        if self.family != socket.AF_UNIX and not _is_loopback(address[0]):
            raise OutsideWorld(f"a test tried to connect to {address[0]}")
        return connect(self, address)

    return to_loopback


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"
