from collections.abc import Callable
from datetime import datetime, timedelta
from time import sleep

import pytest
import redis
from django.conf import LazySettings
from django.db import connection

from delivery import sending, slots, tasks
from delivery.models import Delivery, SenderSlot
from posts import clock
from tests.delivery.running import make_proven
from tests.delivery.slices import make_recipients, states
from tests.delivery.together import together
from tests.delivery.traces import queued
from tests.factories import make_broadcast, make_delivery, make_subscriber
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)


def test_one_of_many_takes_a_slot() -> None:
    taken = together(*[lambda: slots._take(0)] * 8)

    assert sorted(taken) == [False] * 7 + [True]


def test_each_slot_is_taken_for_itself() -> None:
    assert [slots._take(0), slots._take(1), slots._take(0)] == [True, True, False]


def test_a_slot_lapses_so_that_a_killed_slice_does_not_block_it() -> None:
    slots._take(0)
    busy_until = SenderSlot.objects.get().busy_until

    SenderSlot.objects.update(busy_until=clock.now() - SECOND)

    assert timedelta(seconds=36) < busy_until - clock.now() <= timedelta(seconds=40)
    assert [slots._take(0), slots._take(0)] == [True, False]


def test_a_slot_goes_by_the_sandbox_clock(set_clock: Callable[[datetime], None]) -> None:
    slots._take(0)

    set_clock(clock.now() + timedelta(days=1))

    assert [slots._take(0), slots._take(0)] == [True, False]


def test_a_slot_that_was_given_up_is_free_at_once() -> None:
    slots._take(0)

    slots._release(0)

    assert slots._take(0)


def test_a_slice_whose_slot_is_taken_ends_without_a_successor(broker: redis.Redis) -> None:
    broadcast = make_proven()
    make_delivery(broadcast)
    slots._take(0)

    slots.work_slot(0, broadcast_id=broadcast.pk)

    assert Delivery.objects.get().status == "pending"
    assert queued(broker) == []


def test_a_slice_that_finds_nothing_to_send_closes_what_is_done_and_frees_its_slot(broker: redis.Redis) -> None:
    broadcast = make_broadcast(status="sending")
    make_delivery(broadcast, status="sent", message_id="77")
    gone = make_delivery(broadcast, subscriber=make_subscriber(left_reason="stopped"))

    slots.work_slot(0, broadcast_id=broadcast.pk)

    broadcast.refresh_from_db()
    gone.refresh_from_db()
    assert (broadcast.status, gone.status, gone.reason) == ("finished", "skipped", "left")
    assert gone.settled_at
    assert queued(broker) == []
    assert slots._take(0)


def test_a_slice_that_leaves_work_leaves_one_successor_in_its_slot(
    telegram: SandboxProcess, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, broker: redis.Redis
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 0.3)
    settings.TELEGRAM_MESSAGES_PER_SECOND = 10
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 30)

    tasks.send_slice(broadcast_id=broadcast.pk, slot=1)

    assert set(states(broadcast)) == {"sent", "pending"}
    assert [message["body"][1] for message in queued(broker)] == [{"broadcast_id": broadcast.pk, "slot": 1}]
    assert slots._take(1)


def test_a_slice_whose_connections_were_cut_frees_its_slot_and_leaves_a_successor(
    telegram: SandboxProcess, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, broker: redis.Redis
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 1.0)
    settings.TELEGRAM_MESSAGES_PER_SECOND = 10
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 30)
    connection.close()

    together(lambda: tasks.send_slice(broadcast_id=broadcast.pk, slot=1), _cut_all_other_connections)

    assert set(states(broadcast)) == {"sent", "pending"}
    assert len(queued(broker)) == 1
    assert slots._take(1)


def _cut_all_other_connections() -> None:
    sleep(0.5)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
