"""The clock and the queue come in here. No rule lives in this file."""

from celery import shared_task

from delivery import planning, slots, sweeping
from posts import clock


@shared_task(name="delivery.plan_todays_broadcast")
def plan_todays_broadcast() -> None:
    planning.plan_due_broadcast(at=clock.now())


@shared_task(name="delivery.sweep")
def sweep() -> None:
    sweeping.sweep(at=clock.now())


@shared_task(name="delivery.send_slice")
def send_slice(*, broadcast_id: int, slot: int) -> None:
    slots.work_slot(slot, broadcast_id=broadcast_id)
