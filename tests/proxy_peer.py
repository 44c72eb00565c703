"""An HTTP proxy between us and the sandbox: it records what goes through, refuses, and can be cut off."""

import asyncio
import threading
from base64 import b64encode
from typing import Self

import aiohttp
from aiohttp import web
from yarl import URL

USER, PASSWORD = "donate", "proxy-password-aaaaaaaa"
_LET_IN = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()
# Of a message, not of the way to us or from us.
_HOP_BY_HOP = {"connection", "host", "proxy-authorization", "transfer-encoding", "content-encoding", "content-length"}


class ProxyPeer:
    """A context manager in a thread; whatever host is asked for, `upstream` answers.

    `asked` are the methods of the Bot API, or paths, that went through. While it `is_refusing`, all get a 503. What is
    on its way when it is cut stays half-open for ever: established, and then nothing.
    """

    def __init__(self, upstream: str) -> None:
        self.asked: list[str] = []
        self.intruders = 0  # requests that a proxy does not take: without the password, or not meant for one
        self.is_refusing = False
        self._is_cut = False
        self._cuts = 0
        self._upstream = URL(upstream)

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(ready),), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise TimeoutError("the proxy did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://{USER}:{PASSWORD}@127.0.0.1:{self._port}"

    def cut(self) -> None:
        self._cuts += 1
        self._is_cut = True

    def mend(self) -> None:
        """New requests go through again; the old ones are never answered."""
        self._is_cut = False

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._port: int = runner.addresses[0][1]
        async with aiohttp.ClientSession(auto_decompress=False) as self._session:
            ready.set()
            await self._stopping.wait()
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        target = URL(request.raw_path)
        if not target.absolute or request.headers.get("Proxy-Authorization") != _LET_IN:
            self.intruders += 1
            return web.Response(status=407)
        cuts = self._cuts
        if self._is_cut:
            await asyncio.Event().wait()
        if self.is_refusing:
            return web.Response(status=503, text="<html>Service Unavailable</html>")
        self.asked.append(target.name)
        try:
            answer = await self._forward(request, target)
        except aiohttp.ClientError:
            answer = web.Response(status=502)
        if cuts != self._cuts:
            await asyncio.Event().wait()
        return answer

    async def _forward(self, request: web.BaseRequest, target: URL) -> web.Response:
        url = self._upstream.join(target.relative())
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        body = await request.read()
        async with self._session.request(request.method, url, headers=headers, data=body) as answer:
            return web.Response(status=answer.status, body=await answer.read(), content_type=answer.content_type)
