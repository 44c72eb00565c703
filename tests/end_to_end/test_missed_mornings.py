"""Mornings that went by while beat or the workers were down: late, or told, and never all at once."""

from datetime import date, datetime, timedelta

import pytest
import redis
from django.conf import settings
from django_celery_beat.models import PeriodicTask, PeriodicTasks

from delivery import reasons
from delivery.models import Broadcast
from tests.end_to_end.days import go_to, moment, posts, wait_for_morning, wait_for_ticks
from tests.end_to_end.installation import Installation, Process
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

DAYS = [date(2027, 6, 1) + timedelta(days=number) for number in range(8)]
QUEUED_MESSAGES_EXPIRE = 2  # seconds, instead of the minute that a test would have to wait


def errors(worker: Process) -> list[str]:
    """What happened to the broadcasts, by each alert's first sentence. The watch may miss the bot: there is none."""
    alerts = [line.partition(" ERROR ")[2] for line in worker.written().splitlines() if " ERROR delivery." in line]
    return [alert.partition(". ")[0] for alert in alerts]


def told(days: list[date], why: str = reasons.MISSED) -> str:
    return f"delivery.planning: No broadcast on {', '.join(map(str, days))}: {why}"


def test_a_morning_that_beat_missed_goes_out_late_inside_its_window_and_waits_for_a_person_beyond_it(
    installation: Installation,
) -> None:
    people = installation.add_people(3)
    make_fundraiser()
    make_fundraiser()
    go_to(installation, moment(DAYS[0], "07:00"))
    installation.enable_schedule()
    worker = installation.worker()

    go_to(installation, moment(DAYS[0], "09:20"))
    beat = installation.beat()
    wait_for_morning(installation, people, DAYS[0])
    beat.stop()
    go_to(installation, moment(DAYS[1], "10:00:01"))
    installation.beat()
    wait_for_ticks(installation, worker)

    assert Broadcast.objects.get(date=DAYS[1]).status == "expired"
    assert errors(worker) == [told([DAYS[1]])]
    assert len(posts(installation)) == len(people)
    assert installation.manage("broadcast", "start", "--now").returncode == 0
    wait_for_morning(installation, people, DAYS[1])
    assert len(posts(installation)) == 2 * len(people)


def test_three_days_without_workers_are_three_rows_and_one_alert_and_no_burst(installation: Installation) -> None:
    people = installation.add_people(3)
    make_fundraiser()
    go_to(installation, moment(DAYS[0], "07:00"))
    installation.enable_schedule()
    installation.beat()
    PeriodicTask.objects.filter(name__in=["plan", "sweep"]).update(expire_seconds=QUEUED_MESSAGES_EXPIRE)
    PeriodicTasks.update_changed()
    for day in DAYS[:3]:
        queue_ticks(installation, moment(day, "08:30"))

    go_to(installation, moment(DAYS[2], "14:00"))
    worker = installation.worker()
    wait_for_ticks(installation, worker)

    assert worker.written().count("Discarding revoked task") >= len(DAYS[:2]) * 2  # of days whose messages are old
    assert errors(worker) == [told(DAYS[:3])]
    worker.stop()
    for day in DAYS[3:6]:
        queue_ticks(installation, moment(day, "08:30"))

    go_to(installation, moment(DAYS[6], "07:30"))
    worker = installation.worker()
    wait_for_ticks(installation, worker)

    assert errors(worker) == [told(DAYS[3:6], "nothing was at work")]
    assert posts(installation) == []
    go_to(installation, moment(DAYS[6], "07:59:59"))
    installation.wait_for_status("finished")
    wait_for_morning(installation, people, DAYS[6])
    assert len(posts(installation)) == len(people)
    rows = Broadcast.objects.order_by("date").values_list("date", "status")
    assert [*rows] == [*((day, "expired") for day in DAYS[:6]), (DAYS[6], "finished")]


def queue_ticks(installation: Installation, at: datetime) -> None:
    """Let beat tick at that moment, with nobody there to hear it."""
    go_to(installation, at)
    queue = redis.Redis.from_url(settings.REDIS_URL)
    before = queue.llen("default")
    installation.wait_until(lambda: queue.llen("default") >= before + 2, what="ticks in the queue")
