"""Which processes run: started in order, brought back when they die, stopped in reverse order."""

import signal
import time
from dataclasses import dataclass
from typing import Self

from donate1024.stack.children import Child, ServerError
from donate1024.stack.logs import keep_small, last_error, size_of
from donate1024.stack.processes import describe_end
from donate1024.stack.terminal import Terminal

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
STEADY_AFTER = 60.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Watch:
    """One member, and when it may come back: a pause that doubles, until it has been steady for a minute."""

    member: Child
    terminal: Terminal
    started_at: float = 0.0
    log_began: int = 0
    pause: float = FIRST_PAUSE
    again_at: float | None = None
    is_ready: bool = False

    def start(self) -> None:
        self.again_at, self.started_at = None, time.monotonic()
        self.log_began = size_of(self.member.log)
        self.member.start()
        self.is_ready = self.member.is_ready()  # a server's start ends only when it answers
        self.terminal.event(self.member.name, *self._how())

    def look(self) -> None:
        keep_small(self.member.log)
        if self.again_at is not None:
            if time.monotonic() >= self.again_at:
                self._bring_back()
        elif (code := self.member.returncode) is not None:
            self._has_died(describe_end(code))
        else:
            self.member.attend()
            self._tell_when_ready()

    def _tell_when_ready(self) -> None:
        if not self.is_ready and self.member.is_ready():
            self.is_ready = True
            self.terminal.event(self.member.name, *self._how())

    def _how(self) -> tuple[str, str]:
        return ("ready", "green") if self.is_ready else ("started", "")

    def _bring_back(self) -> None:
        try:
            self.start()
        except (ServerError, OSError) as error:
            self._has_died(str(error))

    def _has_died(self, how: str) -> None:
        if time.monotonic() - self.started_at > STEADY_AFTER:
            self.pause = FIRST_PAUSE
        self.again_at = time.monotonic() + self.pause
        self.terminal.trouble(self.member.name, f"{how}; again in {self.pause:g} s")
        if why := last_error(self.member.log, self.log_began):
            self.terminal.log_line(why)
        self.pause = min(self.pause * 2, LONGEST_PAUSE)


class Supervisor:
    """Use as a context: whatever happens inside, everything that was started is stopped at the end."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.servers: list[Watch] = []
        self.processes: list[Watch] = []

    def serve(self, server: Child) -> None:
        """Start what the application stands on: stopped only when all the processes have ended."""
        self._add(self.servers, server)

    def run(self, process: Child) -> None:
        self._add(self.processes, process)

    def look(self) -> None:
        """Bring back what has died, the servers first."""
        for watch in [*self.servers, *self.processes]:
            watch.look()

    def look_until_ready(self, *, within: float) -> None:
        """Return when everything is ready, or the time is up: then it is said what is not."""
        end = time.monotonic() + within
        while late := [watch.member for watch in [*self.servers, *self.processes] if not watch.is_ready]:
            if time.monotonic() > end:
                for member in late:
                    self.terminal.event(member.name, f"not ready after {within:.0f} s; its log: {member.log}", "red")
                return
            self.look()
            time.sleep(0.05)

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            if (number, signal.getsignal(number)) != (signal.SIGHUP, signal.SIG_IGN):  # under nohup it stays ignored
                signal.signal(number, signal.default_int_handler)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_processes()
        self._stop(self.servers)

    def stop_processes(self) -> None:
        """End the application, while the servers stay; from here on a second Ctrl-C changes nothing."""
        for number in STOP_SIGNALS:
            signal.signal(number, _already_stopping)
        for watch in reversed(self.processes):
            watch.member.ask_to_stop()
        self._stop(self.processes)

    def _stop(self, watches: list[Watch]) -> None:
        while watches:
            child = watches.pop().member
            self.terminal.event(child.name, child.stop())

    def _add(self, watches: list[Watch], member: Child) -> None:
        watches.append(Watch(member, self.terminal))
        watches[-1].start()


def _already_stopping(*_: object) -> None:
    """What is stopping has its time limit already."""
