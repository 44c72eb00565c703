"""The Telegram sandbox as a process of its own, for tests: started, asked, stopped, killed."""

import json
import subprocess
import sys
from collections.abc import Iterable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self

_ROOT = Path(__file__).parents[1]


class SandboxError(Exception):
    """The sandbox's control refused; its answer is the text."""


class SandboxProcess:
    """`python -m donate1024.sandbox` on a free port, remembering in `state`; without a rate, it takes any number.

    A context manager; a process that was stopped or killed may be started again on the same state, and keeps its port.
    """

    def __init__(self, state: Path, rate: float | None = None, tokens: Iterable[str] = ()) -> None:
        self.state = state
        self._arguments = ["--state", str(state.resolve()), "--rate", str(rate or 0)]
        self._arguments += [argument for token in tokens for argument in ("--token", token)]
        self._port = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "donate1024.sandbox", "--port", str(self._port), *self._arguments]
        self.process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self._end()
            raise SandboxError(f"the sandbox ended with {self.process.returncode}")
        self.url: str = json.loads(line)["url"]
        self._port = int(self.url.rpartition(":")[2])

    def stop(self) -> None:
        self.process.terminate()
        self._end()

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def _end(self) -> None:
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def get(self, path: str) -> Any:
        return self._ask("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self._ask("POST", path, json.dumps(body).encode())

    def delete(self, path: str) -> Any:
        return self._ask("DELETE", path)

    def sent_to(self, chat_id: int) -> list[dict[str, Any]]:
        """The messages that this chat got, by the ledger."""
        entries: list[dict[str, Any]] = self.get(f"/control/ledger?method=sendMessage,sendPhoto&chat_id={chat_id}")
        return entries

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise SandboxError(f"{method} {path}: {answer.status} {content.decode()}")
        return json.loads(content or "null")
