"""Beat beside a database that comes and goes."""

from datetime import timedelta

import pytest
from celery import current_app
from django.db import connection

from donate1024.beat import AGAIN_AFTER, Scheduler
from donate1024.watch.models import Heartbeat

pytestmark = pytest.mark.django_db(transaction=True)


def test_beat_outlives_a_database_that_is_away_when_it_reads_its_rows_anew() -> None:
    scheduler = Scheduler(current_app)
    scheduler.tick()
    with pytest.MonkeyPatch.context() as patch:
        connection.close()
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", 9)
        scheduler._last_full_sync -= timedelta(minutes=6)
        pauses = [scheduler.tick() for _ in range(2)]

    connection.close()
    scheduler.tick()

    assert pauses == [AGAIN_AFTER, pytest.approx(AGAIN_AFTER, abs=5)]
    assert {"plan", "sweep", "look"} <= scheduler.schedule.keys()


def test_beat_that_starts_before_the_database_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    there = connection.settings_dict["HOST"]
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    monkeypatch.setattr("donate1024.beat.sleep", lambda _: connection.settings_dict.update(HOST=there))

    scheduler = Scheduler(current_app)

    assert {"plan", "sweep", "look"} <= scheduler.schedule.keys()


def test_beat_outlives_a_database_that_takes_no_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(current_app)
    with monkeypatch.context() as patch:
        connection.close()
        read_only = {"options": "-c default_transaction_read_only=on"}
        patch.setitem(connection.settings_dict, "OPTIONS", {**connection.settings_dict["OPTIONS"], **read_only})
        pause = scheduler.tick()

    scheduler.tick()

    assert pause == AGAIN_AFTER
    assert Heartbeat.objects.filter(name="beat").exists()


def test_beat_gives_a_sign_of_life_each_ten_seconds() -> None:
    scheduler = Scheduler(current_app)
    scheduler.tick()
    first = Heartbeat.objects.get(name="beat").at
    scheduler.tick()
    at_once = Heartbeat.objects.get(name="beat").at
    scheduler._signed_at -= 10
    scheduler.tick()

    assert at_once == first
    assert Heartbeat.objects.get(name="beat").at > first
