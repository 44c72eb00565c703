"""The first accident, replayed: jobs from a plan that rolled back, a morning started many times at once."""

import signal
import sys

import pytest
import redis
from django.conf import settings
from django.db import transaction

from delivery import planning
from delivery.models import Broadcast, Delivery
from delivery.slices import enqueue_slices
from posts import clock
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

DIES_BEFORE_THE_QUEUE = """
import os, signal, django
django.setup()
from django.db import transaction
from delivery import planning
from posts import clock
with transaction.atomic():
    # Runs after the commit, and before the callback that fills the queue.
    transaction.on_commit(lambda: os.kill(os.getpid(), signal.SIGKILL))
    planning.start_broadcast(at=clock.now(), by="Ольга")
"""


def test_a_plan_that_fails_after_its_enqueue_leaves_no_row_no_job_and_no_message(installation: Installation) -> None:
    make_fundraiser()
    installation.add_people(5)

    with pytest.raises(ZeroDivisionError):
        _plan_and_fail()

    assert not Broadcast.objects.exists()
    assert not Delivery.objects.exists()
    assert redis.Redis.from_url(settings.REDIS_URL).llen("telegram") == 0  # no worker runs that could have taken one
    installation.worker()
    planning.start_broadcast(at=clock.now(), by="Ольга", now=True)  # the same morning, tried again
    installation.wait_for_status("finished")
    assert set(installation.served().values()) == {1}


def test_a_morning_started_ten_times_at_once_serves_everybody_once(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.set_clock()
    installation.enable_schedule()
    for _ in range(4):
        installation.worker(concurrency=2)
    commands = [installation.start("start", sys.executable, "manage.py", "broadcast", "start") for _ in range(8)]

    installation.beat()
    installation.beat()

    installation.wait_for_status("finished")
    assert [command.process.wait(60) for command in commands].count(0) <= 1
    assert Broadcast.objects.count() == 1
    assert installation.served() == dict.fromkeys(people, 1)


def test_doubled_and_repeated_jobs_change_nothing(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    planning.start_broadcast(at=clock.now(), by="Ольга", now=True)
    for _ in range(10):
        enqueue_slices(Broadcast.objects.get().pk)
    installation.worker(concurrency=4)
    installation.worker(concurrency=4)
    installation.wait_for_status("finished")

    for _ in range(10):
        enqueue_slices(Broadcast.objects.get().pk)

    queue = redis.Redis.from_url(settings.REDIS_URL)
    installation.wait_until(lambda: queue.llen("telegram") == 0, what="an empty queue")
    assert installation.served() == dict.fromkeys(people, 1)


def test_the_sweep_finishes_a_run_whose_planner_died_before_it_filled_the_queue(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(10)
    installation.set_clock()
    installation.enable_schedule()
    planner = installation.start("planner", sys.executable, "-c", DIES_BEFORE_THE_QUEUE)
    assert planner.process.wait(30) == -signal.SIGKILL
    assert installation.books()["counts"]["pending"] == len(people)
    assert redis.Redis.from_url(settings.REDIS_URL).llen("telegram") == 0
    worker = installation.worker()

    installation.beat(tick_seconds=5)

    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)
    assert worker.written().count("delivery.sweep") <= 2 * 2 + 1  # two ticks, each received and done, and its listing


@transaction.atomic
def _plan_and_fail() -> None:
    planning.start_broadcast(at=clock.now(), by="Ольга", now=True)
    raise ZeroDivisionError
