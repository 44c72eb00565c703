"""`make run` on a fresh, empty state directory: the whole house, as a person starts it."""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from dotenv import dotenv_values

from donate1024.stack import environment, ports

pytestmark = pytest.mark.end_to_end


class Run:
    """A supervisor of its own, and what it has said so far."""

    def __init__(self, state: Path) -> None:
        self.ports = {name: ports.free() for name in environment.PORTS}
        clean = {name: value for name, value in os.environ.items() if name not in environment.NAMES}
        chosen = {name: str(port) for name, port in self.ports.items()}
        self.env = clean | chosen | {"STATE_DIR": str(state), "DONATE1024_ENV_FILE": "", "COLUMNS": "200"}
        self.output = state.with_suffix(".out")
        with self.output.open("w") as output:
            self.process = self.start(stdout=output)

    def start(self, **options: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "donate1024.stack", "run"]
        return subprocess.Popen(command, cwd=environment.ROOT, env=self.env, text=True, **options)  # type: ignore[call-overload,no-any-return]

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=environment.ROOT, env=self.env, text=True, capture_output=True, check=False
        )

    def wait_for(self, said: str) -> str:
        return until(lambda: (match := re.search(said, self.output.read_text())) and match[0], self.output)

    def status(self, port: str, path: str, *, method: str = "GET", login: str = "") -> int:
        headers = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if login else {}
        connection = HTTPConnection("127.0.0.1", self.ports[port], timeout=10)
        connection.request(method, path, headers=headers)
        status = connection.getresponse().status
        connection.close()
        return status


def until[T](look: Callable[[], T], output: Path) -> T:
    end = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < end, output.read_text()
        time.sleep(0.1)
    return found
