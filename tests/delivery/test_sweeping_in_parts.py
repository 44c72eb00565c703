"""A part of the sweep that fails is told, and stops no other."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
import redis
from django.db import OperationalError, connection

from delivery.sweeping import sweep
from tests.delivery.morning import DAY, MORNING
from tests.delivery.refusing import refusing
from tests.delivery.traces import errors, queued
from tests.factories import make_broadcast, make_delivery, make_subscriber

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _may_fail(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    caplog.get_records("call").clear()


def test_a_part_that_fails_is_told_once_and_the_others_do_their_work(
    caplog: pytest.LogCaptureFixture, broker: redis.Redis
) -> None:
    broadcast = make_broadcast(status="sending", date=DAY)
    hanging = make_delivery(broadcast, status="sending", token=uuid4(), claimed_at=MORNING - timedelta(minutes=4))
    gone = make_delivery(broadcast, subscriber=make_subscriber(left_reason="stopped"))
    make_delivery(broadcast)

    with refusing("delivery_delivery", "NEW.status = 'unknown'"):
        sweep(at=MORNING)
    told = errors(caplog)
    hanging.refresh_from_db()
    before = hanging.status
    sweep(at=MORNING)

    hanging.refresh_from_db()
    gone.refresh_from_db()
    assert [words.partition(". ")[0] for words in told] == [
        "A part of the upkeep of each minute failed: messages without an answer still count as on their way"
    ]
    assert (before, hanging.status, gone.status) == ("sending", "unknown", "skipped")
    assert queued(broker)
    assert errors(caplog) == told


def test_a_broadcast_that_cannot_be_closed_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    stuck = make_broadcast(status="sending", date=DAY)
    done = make_broadcast(status="sending", date=DAY + timedelta(days=1))
    for each in (stuck, done):
        make_delivery(each, status="sent", message_id="77")

    with refusing("delivery_broadcast", f"NEW.id = {stuck.pk} AND NEW.status = 'finished'"):
        sweep(at=MORNING)

    stuck.refresh_from_db()
    done.refresh_from_db()
    assert (stuck.status, done.status) == ("sending", "finished")
    assert len(errors(caplog)) == 1


def test_a_part_whose_connection_is_cut_leaves_the_others_a_new_one() -> None:
    broadcast = make_broadcast(status="sending", date=DAY)
    gone = make_delivery(broadcast, subscriber=make_subscriber(left_reason="stopped"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()

    sweep(at=MORNING)

    gone.refresh_from_db()
    assert gone.status == "skipped"


def test_a_database_that_is_away_is_no_fault_of_each_part(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.close()

    with monkeypatch.context() as away:
        away.setitem(connection.settings_dict, "HOST", "/nowhere")
        with pytest.raises(OperationalError):
            sweep(at=MORNING)

    assert errors(caplog) == []
