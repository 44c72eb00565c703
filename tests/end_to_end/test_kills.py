"""Whatever is killed: nobody twice, nobody forgotten, and what cannot be known is said so."""

from contextlib import ExitStack
from time import sleep

import pytest
import redis
from django.conf import settings
from django.db import connection, transaction

from delivery import planning
from delivery.models import Broadcast, Delivery
from donate1024.celery import app
from donate1024.stack import environment, roles
from donate1024.stack.embedded import Postgres, Valkey
from posts import clock
from tests.delivery.together import waits_for_lock
from tests.end_to_end.installation import Installation
from tests.end_to_end.killing import frozen, kill, start_again
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end


@pytest.mark.parametrize("has_accepted", [True, False], ids=["after Telegram accepted", "before Telegram accepted"])
def test_a_worker_killed_while_sending_leaves_at_most_its_open_calls_unknown(
    installation: Installation, *, has_accepted: bool
) -> None:
    make_fundraiser()
    people = installation.add_people(200)  # six seconds and more: time for the fault to come in the midst
    worker = installation.worker()
    assert installation.manage("broadcast", "start", "--now").returncode == 0
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    # Everybody's reply is late from here on: by then the message is out, or it is not.
    installation.fault({"delay" if has_accepted else "hang": 5}, method="sendMessage", times=4)
    installation.wait_for_count(Delivery.Status.SENDING, least=4)

    worker.kill_group()

    open_calls = sending()
    assert open_calls
    installation.sandbox.delete("/control/faults")
    installation.worker()
    installation.beat()
    installation.pass_time(41)  # the killed slices' slots lapse
    installation.wait_until(lambda: Delivery.objects.pending().count() == 0, what="the rest to be sent")
    installation.pass_time(3 * 60 + 1)
    books = installation.wait_for_status("finished")
    assert unknown() == open_calls
    assert books["counts"]["sent"] == len(people) - len(open_calls)
    served = installation.served()
    assert max(served.values()) == 1
    not_served = set(people) - set(served)
    assert len(not_served) <= len(open_calls)


def test_a_worker_that_is_stopped_gives_back_what_it_has_not_begun(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    assert worker.stop() == 0

    counts = installation.books()["counts"]
    assert counts["sending"] == counts["unknown"] == 0
    assert counts["pending"] > 0
    installation.worker()
    installation.beat()
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)


def test_a_worker_whose_broker_dies_under_it_goes_on_working(installation: Installation) -> None:
    state = installation.folder / "broker"
    state.mkdir()
    make_fundraiser()
    people = installation.add_people(80)
    with Valkey(state) as broker:
        installation.env["REDIS_URL"] = environment.redis_url(state)
        worker = installation.worker()
        assert installation.manage("broadcast", "start", "--now").returncode == 0
        installation.wait_for_count(Delivery.Status.SENT, least=10)

        assert broker.process is not None
        broker.process.kill()
        broker.process.wait()
        counts = installation.books()["counts"]
        broker.start()

        assert counts["pending"] > 0
        worker.wait_for("Connection to broker lost")
        installation.beat()
        installation.wait_for_status("finished")
        assert worker.is_alive
        assert installation.served() == dict.fromkeys(people, 1)
        assert worker.written().count("delivery.send_slice") > 2  # it did take new work from the new broker
        worker.end()


def test_a_frozen_worker_loses_its_place_and_its_late_answers_count_when_it_wakes(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    sleeper = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    installation.fault({"delay": 2}, method="sendMessage", times=4)
    installation.wait_for_count(Delivery.Status.SENDING, least=4)

    with frozen(sleeper.process.pid):
        open_calls = sending()
        installation.pass_time(5 * 60)
        installation.worker()
        installation.beat()
        books = installation.wait_for_status("finished", seconds=90)
        assert unknown() == open_calls
        assert books["counts"]["sent"] == len(people) - len(open_calls)

    installation.wait_until(lambda: not unknown(), what="the late answers to count")
    books = installation.wait_for_status("finished")
    assert books["counts"]["sent"] == len(people)
    assert installation.served() == dict.fromkeys(people, 1)


def test_what_a_frozen_worker_had_claimed_and_not_begun_is_given_back_when_it_wakes(
    installation: Installation,
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    sleeper = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    with ExitStack() as asleep:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE delivery_delivery IN SHARE MODE")
            assert waits_for_lock()  # its next claim
            sleep(1)  # what was on its way arrives
            asleep.enter_context(frozen(sleeper.process.pid))
        installation.wait_for_count(Delivery.Status.SENDING)  # it does not hear of its claims
        installation.pass_time(5 * 60)
        installation.worker()
        installation.beat()
        installation.wait_for_status("finished", seconds=90)
        assert len(people) - len(installation.served()) == len(unknown()) > 0

    installation.wait_until(lambda: len(installation.served()) == len(people), seconds=60, what="all to be served")
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)
    assert not unknown()


def test_old_tasks_in_a_doubled_queue_are_thrown_away_and_two_beats_make_one_morning(
    installation: Installation,
) -> None:
    make_fundraiser()
    people = installation.add_people(40)
    planning.start_broadcast(by="", at=clock.now(), now=True)
    queue = redis.Redis.from_url(settings.REDIS_URL)
    queue.delete("telegram")
    for number in range(20):
        slice_of = {"broadcast_id": Broadcast.objects.get().pk, "slot": number % 2}
        app.send_task("delivery.send_slice", kwargs=slice_of, expires=0.1)
        app.send_task("delivery.sweep", expires=0.1)
    sleep(0.2)

    worker = installation.worker()

    discarded = "Discarding revoked task: delivery."
    installation.wait_until(lambda: worker.written().count(discarded) == 40, what="the old tasks to be thrown away")
    assert installation.served() == {}
    beats = [installation.beat(), installation.beat()]
    for beat in beats:
        beat.wait_for("Sending due task sweep")
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)
    assert Broadcast.objects.count() == 1


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_worker_that_is_stopped_while_postgresql_is_away_ends_before_it_would_be_killed(
    installation: Installation, postgres: Postgres
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    kill(postgres)
    worker.wait_for("PostgreSQL is out of reach")

    worker.stop(seconds=roles.TELEGRAM_GRACE)

    start_again(postgres)
    connection.close()
    installation.worker()
    installation.beat()
    installation.pass_time(3 * 60 + 1)
    books = installation.wait_for_status("finished", seconds=90)
    assert set(installation.served().values()) == {1}
    assert len(people) - len(installation.served()) <= books["counts"]["unknown"]


def sending() -> set[int]:
    return set(Delivery.objects.filter(status=Delivery.Status.SENDING).values_list("pk", flat=True))


def unknown() -> set[int]:
    return set(Delivery.objects.filter(status=Delivery.Status.UNKNOWN).values_list("pk", flat=True))
