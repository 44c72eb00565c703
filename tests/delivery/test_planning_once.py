"""All or nothing, once a day: the first accident."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import itemgetter
from threading import Event, Thread

import pytest
import redis
from django.conf import LazySettings
from django.db import connection, transaction

from delivery import planning
from delivery.models import Broadcast, DailySchedule, Delivery
from delivery.refusals import AlreadyPlanned
from tests.delivery.morning import MORNING, plan
from tests.delivery.together import together, waits_for_lock
from tests.delivery.traces import queued
from tests.factories import (
    make_fundraiser,
    make_schedule,
    make_subscriber,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_exception_after_the_enqueue_call_leaves_no_row_and_no_job(broker: redis.Redis) -> None:
    make_fundraiser()
    make_subscriber()

    def plan_and_fail() -> None:
        with transaction.atomic():
            plan()
            raise LookupError("a later line")

    with pytest.raises(LookupError):
        plan_and_fail()

    assert (Broadcast.objects.count(), Delivery.objects.count()) == (0, 0)
    assert broker.keys() == []


def test_a_plan_enqueues_one_slice_a_sender_after_the_commit(broker: redis.Redis, settings: LazySettings) -> None:
    settings.TELEGRAM_SENDERS = 3
    make_fundraiser()

    with transaction.atomic():
        broadcast = plan()
        before_the_commit = queued(broker)

    assert before_the_commit == []
    messages = queued(broker)
    args, kwargs, _ = zip(*(message["body"] for message in messages), strict=True)
    assert args == ([], [], [])
    assert sorted(kwargs, key=itemgetter("slot")) == [{"broadcast_id": broadcast.pk, "slot": slot} for slot in range(3)]
    headers = [message["headers"] for message in messages]
    assert {header["task"] for header in headers} == {"delivery.send_slice"}
    lifetimes = {datetime.fromisoformat(header["expires"]) - datetime.now(UTC) for header in headers}
    assert all(timedelta(seconds=30) < left <= timedelta(seconds=60) for left in lifetimes)
    assert {header["eta"] for header in headers} == {None}


def test_a_queue_that_is_away_does_not_undo_the_plan(settings: LazySettings, broker_away: None) -> None:
    make_fundraiser()
    make_subscriber()

    plan()

    assert Delivery.objects.count() == 1


def test_ten_ticks_and_starts_at_once_plan_one_broadcast_with_one_delivery_each() -> None:
    make_schedule()
    make_fundraiser()
    subscribers = [make_subscriber() for _ in range(20)]

    def start() -> Broadcast | None:
        try:
            return planning.start_broadcast(by="Ольга", at=MORNING)
        except AlreadyPlanned:
            return None

    def tick() -> Broadcast | None:
        return planning.plan_due_broadcast(at=MORNING)

    planned = together(*[tick, start] * 5)

    broadcast = Broadcast.objects.get()
    assert [one for one in planned if one] == [broadcast]
    assert broadcast.deliveries.count() == len(subscribers)


def test_a_tick_does_not_wait_while_somebody_else_plans() -> None:
    make_schedule()
    make_fundraiser()
    is_locked, may_go = Event(), Event()

    def somebody_else() -> None:
        with transaction.atomic():
            DailySchedule.objects.select_for_update().get()
            is_locked.set()
            may_go.wait(10)
        connection.close()

    other = Thread(target=somebody_else)
    other.start()
    is_locked.wait(10)

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '2s'")
        answer = planning.plan_due_broadcast(at=MORNING)

    may_go.set()
    other.join()
    assert answer is None
    assert not Broadcast.objects.exists()


def test_a_person_who_starts_waits_until_somebody_else_has_planned() -> None:
    make_schedule()
    make_fundraiser()
    start = partial(planning.start_broadcast, by="Ольга", at=MORNING)

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            DailySchedule.objects.select_for_update().get()
            started = threads.submit(lambda: together(start))
            is_waiting = waits_for_lock()

        assert is_waiting
        assert started.result(30) == [Broadcast.objects.get()]
