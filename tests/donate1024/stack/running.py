"""`make run` as a process, for tests: started on a directory and ports of its own, asked, struck, started again."""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Self

from donate1024.stack import environment, ports

RUN = [sys.executable, "-m", "donate1024.stack", "run"]


class Run:
    """A supervisor, and what it has said since its last start. A context manager: in the end nothing of it is left."""

    def __init__(self, state: Path, **env: str) -> None:
        self.state = state
        self.ports = {name: ports.free() for name in environment.PORTS}
        clean = {name: value for name, value in os.environ.items() if name not in environment.NAMES}
        chosen = {name: str(port) for name, port in self.ports.items()}
        self.env = clean | chosen | {"STATE_DIR": str(state), "DONATE1024_ENV_FILE": "", "COLUMNS": "200"} | env
        self.said = state.with_suffix(".out")

    def start(self) -> None:
        with self.said.open("w") as output:
            self.process = subprocess.Popen(RUN, cwd=environment.ROOT, env=self.env, stdout=output)
        self.wait_for("donate1024 is running")

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(90)
        finally:
            for process_id in self.everybody():
                os.kill(process_id, signal.SIGKILL)
            shutil.rmtree(environment.socket_dir(self.state), ignore_errors=True)

    def command(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=environment.ROOT, env=self.env | env, text=True, capture_output=True, check=False
        )

    def manage(self, *arguments: str) -> str:
        done = self.command(sys.executable, "manage.py", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def wait_for(self, pattern: str) -> None:
        self.until(lambda: re.search(pattern, self.said.read_text()))

    def until(self, condition: Callable[[], object], *, seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, self.said.read_text()
            time.sleep(0.1)

    def status(self, port: str, path: str, *, method: str = "GET", login: str = "") -> int:
        basic = base64.b64encode(login.encode()).decode()
        connection = HTTPConnection("127.0.0.1", self.ports[port], timeout=10)
        connection.request(method, path, headers={"Authorization": f"Basic {basic}"} if login else {})
        status = connection.getresponse().status
        connection.close()
        return status

    def children(self, name: str = "") -> list[int]:
        """The supervisor's own children whose command line has the name in it."""
        listed = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(self.process.pid)],
            text=True,
            capture_output=True,
            check=False,  # 1: there are none
        )
        return [int(line.split(maxsplit=1)[0]) for line in listed.stdout.splitlines() if name in line]

    def everybody(self) -> dict[int, str]:
        """Whoever works on our directory, orphans too: process id -> command line."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                # By where it writes: a title that a process gives itself covers its environment.
                if str((process / "fd" / "1").readlink()).startswith(str(self.state)):
                    found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found
