"""A service outside, as an HTTP server in a thread: it answers as it is told, and remembers what it was asked."""

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    method: str
    target: str  # as it stands in the request: a proxy gets the whole address
    headers: dict[str, str]
    body: str

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)


class HttpPeer:
    """A context manager; `answer` gives the status and the body, text or JSON. While `is_hanging`, nobody answers."""

    def __init__(self, answer: Callable[[Asked], tuple[int, Any]] = lambda _: (200, "OK")) -> None:
        self.asked: list[Asked] = []
        self.answer = answer
        self.is_hanging = False
        self.clock_ahead = 0.0  # seconds, of the Date in its answers
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length).decode(errors="replace")
                asked = Asked(self.command, self.path, {**self.headers}, body)
                peer.asked.append(asked)
                if peer.is_hanging:
                    peer._ended.wait()
                    return
                self._reply(*peer.answer(asked))

            do_GET = do_POST = do_HEAD = do_PUT = _any  # noqa: N815 -- the names that http.server calls

            def _reply(self, status: int, answer: Any) -> None:
                content, media_type = (
                    (answer, "text/plain") if isinstance(answer, str) else (json.dumps(answer), "application/json")
                )
                self.send_response(status)
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(content.encode())))
                self.end_headers()
                self.wfile.write(content.encode())

            def date_time_string(self, timestamp: float | None = None) -> str:
                return super().date_time_string((timestamp or time.time()) + peer.clock_ahead)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
