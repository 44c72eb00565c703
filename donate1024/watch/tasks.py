"""The watch's ticks. No rule lives in this file."""

from celery import shared_task

from donate1024.watch import task_watcher
from donate1024.watch.heartbeats import PROOF


@shared_task(name=PROOF)
def prove_queue() -> None:
    """Come to its end: heartbeats.task_succeeded then writes that its queue has living workers."""


@shared_task(name="watch.look")
def look() -> None:
    task_watcher.look_around()
