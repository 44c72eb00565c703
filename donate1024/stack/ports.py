"""The TCP ports of this machine: which are free, and who answers."""

import socket
from collections.abc import Mapping, Sequence
from itertools import combinations

from donate1024.stack.environment import PORTS

LOOPBACK = "127.0.0.1"
HIGHEST = 65_535


class PortRefused(RuntimeError):
    """A port cannot be used; the message names the setting that changes it."""


def named(environ: Mapping[str, str], name: str) -> int:
    """The port that the setting names.

    Raises:
        PortRefused: if it is no port.
    """
    text = environ.get(name, str(PORTS[name]))
    if not text.isdecimal() or not 0 < int(text) <= HIGHEST:
        raise PortRefused(f"{name}: expects a port between 1 and {HIGHEST}, not {text!r}")
    return int(text)


def chosen(environ: Mapping[str, str], name: str) -> int:
    """The port that the setting names, free to be listened on.

    Raises:
        PortRefused: if it is no port, or somebody listens there.
    """
    port = named(environ, name)
    if answers(port):
        raise PortRefused(f"port {port} is taken: set {name} to another one, in .env or before `make`")
    return port


def chosen_all(environ: Mapping[str, str], names: Sequence[str]) -> dict[str, int]:
    """The ports that the settings name.

    Raises:
        PortRefused: as `chosen`, or if two of them are the same.
    """
    used = {name: chosen(environ, name) for name in names}
    for name, other in combinations(names, 2):
        if used[name] == used[other]:
            raise PortRefused(f"{name} and {other} are both {used[name]}: set one of them to another port")
    return used


def answers(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex((LOOPBACK, port)) == 0


def free() -> int:
    """A port that nobody uses now."""
    with socket.create_server((LOOPBACK, 0)) as server:
        port: int = server.getsockname()[1]
    return port
