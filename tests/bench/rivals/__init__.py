"""How fast others are, each in its own processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

from celery import Celery

from donate1024 import redis_urls
from donate1024.stack import environment
from tests.bench.ground import Ground, wait_until
from tests.bench.running import LATENCY

HERE = Path(__file__).parent
UV = Path(sys.executable).with_name("uv")
AT_ONCE = 16  # of the worker's processes: eight a core, 1.3 GB of memory
IN_FLIGHT = 280  # what ours has, flat out


def by_tasks(ground: Ground, task: str, recipients: int) -> float:
    """Messages a second of a task for each recipient."""
    broker = redis_urls.broker(os.environ["REDIS_URL"]).replace("virtual_host=0", "virtual_host=9")
    ground.set_standin(latency=LATENCY)
    options = ("-A", "tests.bench.rivals.task_per_recipient", "worker", "-c", str(AT_ONCE), "-l", "info")
    command = (sys.executable, "-m", "celery", *options, "--without-mingle", "--without-gossip")
    with ground.process("rival", *command, env={"RIVAL_BROKER": broker}) as worker:
        worker.wait_for(" ready.")
        with Celery(broker=broker, set_as_current=False) as app:  # ours plans the next broadcast
            for chat in range(1, recipients + 1):
                app.send_task(task, [chat])
        began, before = time.monotonic(), int(ground.report()["received"])
        wait_until(lambda: ground.report()["received"] >= recipients, seconds=300, what=task, pause=0.1)
    return (recipients - before) / (time.monotonic() - began)


def by_aiogram(ground: Ground, recipients: int) -> float:
    """Messages a second of a loop that keeps no record; it runs in an environment of its own."""
    ground.set_standin(latency=LATENCY)
    command = [str(UV), "run", "-q", "--python", sys.executable, "--script", str(HERE / "aiogram_loop.py")]
    arguments = [ground.url, str(recipients), str(IN_FLIGHT)]
    done = subprocess.run(
        [*command, *arguments], check=True, cwd=environment.ROOT, stdout=subprocess.PIPE, text=True, timeout=300
    )
    return recipients / float(done.stdout.split()[0])
