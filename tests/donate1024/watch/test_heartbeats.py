"""Which success is whose sign of life, and what a row of them says."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.db.models import F

from donate1024.watch.heartbeats import PROOF, Sign, give, task_succeeded
from donate1024.watch.models import Heartbeat
from posts import clock

pytestmark = pytest.mark.django_db


def succeed(name: str, *, queue: str | None) -> None:
    """As Celery tells of it."""
    delivery_info = None if queue is None else {"routing_key": queue}
    task: Any = SimpleNamespace(name=name, request=SimpleNamespace(delivery_info=delivery_info))
    task_succeeded(sender=task, result=None)


@pytest.mark.parametrize(
    ("task", "queue", "names"),
    [
        ("delivery.sweep", "default", {"queue:default", "task:delivery.sweep"}),
        ("watch.look", "default", {"queue:default", "task:watch.look"}),
        ("delivery.send_slice", "telegram", {"queue:telegram"}),
        (PROOF, "bluesky", {"queue:bluesky"}),
        ("delivery.send_slice", "elsewhere", set()),
        ("delivery.send_slice", None, set()),
    ],
)
def test_a_success_proves_its_queue_and_if_beat_sent_it_itself(task: str, queue: str | None, names: set[str]) -> None:
    succeed(task, queue=queue)

    assert set(Heartbeat.objects.values_list("name", flat=True)) == names


def test_a_sign_is_the_databases_moment_whatever_the_sandboxes_clock_says(settings: Any, tmp_path: Any) -> None:
    settings.STATE_DIR = tmp_path
    real = clock.now()
    (tmp_path / "clock-offset").write_text("86400")

    give(Sign("bot", ago=20))

    age = Heartbeat.objects.get().at - real
    assert timedelta(seconds=-20) <= age < timedelta(seconds=40)


def test_signs_go_on_until_a_break() -> None:
    give(Sign("bot"))
    Heartbeat.objects.update(at=F("at") - timedelta(seconds=70), since=F("since") - timedelta(seconds=500))

    give(Sign("bot"))
    unbroken = Heartbeat.objects.get()
    Heartbeat.objects.update(at=F("at") - timedelta(seconds=80))
    give(Sign("bot"))
    after_a_break = Heartbeat.objects.get()

    assert timedelta(seconds=500) <= unbroken.at - unbroken.since < timedelta(seconds=530)
    assert after_a_break.at == after_a_break.since


def test_signs_cannot_begin_after_they_went_on() -> None:
    now = clock.now()

    with pytest.raises(IntegrityError, match="heartbeat_begins_before_it_goes_on"):
        Heartbeat.objects.create(name="bot", at=now, since=now + timedelta(seconds=1))


def test_a_sign_counts_though_the_databases_clock_was_put_back() -> None:
    give(Sign("bot"))
    Heartbeat.objects.update(at=F("at") + timedelta(hours=1), since=F("since") + timedelta(hours=1))

    give(Sign("bot"))

    sign = Heartbeat.objects.get()
    assert sign.since == sign.at


def test_a_sign_keeps_what_others_wrote_beside_it() -> None:
    give(Sign("watch"))
    Heartbeat.objects.update(detail={"told": {"bot": True}})

    give(Sign("watch", detail={"lag": 0.5}))

    detail = Heartbeat.objects.get().detail
    assert detail["told"] == {"bot": True}
    assert detail["lag"] == 0.5
    assert abs(detail["ahead"]) < 30  # this host's clock, beside the database's


def test_a_database_that_is_away_costs_a_task_nothing_but_its_sign(caplog: pytest.LogCaptureFixture) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE watch_heartbeat RENAME TO elsewhere")

    succeed("delivery.sweep", queue="default")

    assert "no sign of life from delivery.sweep" in caplog.text
