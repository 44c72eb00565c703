"""What befalls the connections under the calls: cut, reset, dead while nobody used them."""

import asyncio
import socket
import struct
from dataclasses import dataclass
from typing import Literal, get_args
from weakref import WeakKeyDictionary

from aiohttp import web

Fate = Literal["keep", "close", "swallow"]
_LOOK_EVERY = 0.1  # seconds


class Cut(Exception):
    """The connection is to be ended without an answer."""

    def __init__(self, *, is_reset: bool = False) -> None:
        super().__init__()
        self.is_reset = is_reset


def end(request: web.Request, *, is_reset: bool) -> None:
    """Close the connection at once: as one side does that is done (FIN), or by a TCP reset (RST)."""
    if request.transport is None:
        return
    if is_reset:
        connection: socket.socket = request.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


@dataclass(slots=True)
class Rule:
    """What becomes of a connection that was idle for `after` seconds.

    close: it is closed, as servers do that save their own; swallow: it is dead and nobody was told, as behind a router
    that forgot it: the next request is neither accepted nor answered.
    """

    fate: Fate = "keep"
    after: float = 0

    def __post_init__(self) -> None:
        if self.fate not in get_args(Fate) or not isinstance(self.after, int | float):
            raise ValueError(f"fate is one of {get_args(Fate)}, after is in seconds")


class Connections:
    def __init__(self) -> None:
        self.rule = Rule()
        self._idle_since: WeakKeyDictionary[asyncio.Transport, float] = WeakKeyDictionary()

    async def begin(self, request: web.Request) -> None:
        """Raises Cut where the request goes into the void, once the other side has given up."""
        if (transport := request.transport) is None:
            return
        since = self._idle_since.pop(transport, None)
        if self.rule.fate == "swallow" and since is not None and self._now() - since > self.rule.after:
            while not transport.is_closing():  # noqa: ASYNC110 -- a transport wakes nobody
                await asyncio.sleep(_LOOK_EVERY)
            raise Cut

    def end(self, request: web.Request) -> None:
        """The request is answered: from now on the connection is idle."""
        if (transport := request.transport) is None:
            return
        since = self._idle_since[transport] = self._now()
        if self.rule.fate == "close":
            asyncio.get_running_loop().call_later(self.rule.after, self._close, transport, since)

    def _close(self, transport: asyncio.Transport, since: float) -> None:
        if self._idle_since.get(transport) == since:
            transport.close()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
