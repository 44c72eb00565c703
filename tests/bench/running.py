"""One broadcast on the ground, from its plan to its last recorded answer."""

import time
from dataclasses import dataclass
from typing import Any

from tests.bench.ground import Ground, Worker, wait_until

LATENCY = 0.08  # seconds until the stand-in answers
OPEN = {"pending", "sending"}
PATIENCE = 300.0


@dataclass(frozen=True)
class Run:
    """What one broadcast reached, by the stand-in, the ledger and the kernel."""

    sent: int
    seconds: float  # from the first claim to the last recorded answer
    cpu_milliseconds: float  # per message, of the workers, PostgreSQL and Valkey
    report: dict[str, Any]
    memory: float  # megabytes of the largest worker process

    @property
    def rate(self) -> float:
        return self.sent / self.seconds


def run(ground: Ground, *, recipients: int, rate: float, limit: int = 0) -> Run:
    """Plan a broadcast for so many, and send all of it."""
    ground.populate(recipients)
    ground.set_standin(latency=LATENCY, limit=limit)
    with ground.worker(rate=rate) as worker:
        cpu = ground.cpu_seconds(worker)
        ground.plan()
        wait_for_all(ground, recipients)
        return measure(ground, worker, since=cpu)


def wait_for_all(ground: Ground, recipients: int) -> None:
    """Ask the stand-in, which costs us nothing, and then the ledger."""
    wait_until(lambda: ground.report()["received"] >= recipients, seconds=PATIENCE, what="the last message", pause=0.25)
    wait_until(lambda: OPEN.isdisjoint(ground.statuses()), seconds=PATIENCE, what="the last record")


def measure(ground: Ground, worker: Worker, *, since: float) -> Run:
    cpu = ground.cpu_seconds(worker) - since
    sent = ground.statuses().get("sent", 0)
    report = ground.report()
    return Run(sent, ground.seconds_of_run(), 1000 * cpu / max(sent, 1), report, worker.memory())


def watch(ground: Ground, *, until: int, seconds: float) -> float:
    """Wait until the stand-in has got so many; returns the seconds since now."""
    began = time.monotonic()
    wait_until(lambda: ground.report()["received"] >= until, seconds=seconds, what=f"{until} messages", pause=0.02)
    return time.monotonic() - began
