"""The hour of the morning, by the clock on the wall: when the clocks change, step back, or stand in another zone."""

from datetime import date, time, timedelta

import pytest

from delivery.models import Broadcast, Delivery
from tests.end_to_end.days import go_to, moment, posts, served_on, wait_for_morning, wait_for_ticks
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

SPRING, AUTUMN = date(2027, 3, 28), date(2027, 10, 31)  # last Sundays: at 03:00 to 04:00, and at 04:00 to 03:00
ONE = timedelta(days=1)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(("process_zone", "is_beat_restarted"), [("UTC", False), ("America/New_York", True)])
def test_eight_in_the_morning_comes_once_a_day_around_both_clock_changes(
    installation: Installation, process_zone: str, *, is_beat_restarted: bool
) -> None:
    people = installation.add_people(3)
    installation.env["TZ"] = process_zone
    for _ in range(3):
        make_fundraiser()
    installation.worker()
    beat = installation.beat()

    for change in (SPRING, AUTUMN):
        go_to(installation, moment(change - ONE, "00:05"))
        installation.enable_schedule()
        for day in (change - ONE, change, change + ONE):
            if is_beat_restarted and day == change:
                go_to(installation, moment(day, "02:30"))
                beat.stop()
                beat = installation.beat()
            go_to(installation, moment(day, "08:00") - SECOND)
            wait_for_morning(installation, people, day)

    mornings = posts(installation)
    assert len(mornings) == 6 * len(people)
    assert all(time(8) <= post.at.time() < time(8, 1) for post in mornings)


def test_an_hour_that_spring_leaves_out_or_autumn_repeats_comes_once_on_its_date(installation: Installation) -> None:
    people = installation.add_people(3)
    for _ in range(3):
        make_fundraiser()
    worker = installation.worker()
    installation.beat()

    go_to(installation, moment(SPRING, "00:05"))
    installation.enable_schedule(send_at=time(3, 30))
    left_out = moment(SPRING, "04:30")
    go_to(installation, left_out - SECOND)
    wait_for_morning(installation, people, SPRING)

    go_to(installation, moment(AUTUMN, "00:05"))
    installation.enable_schedule()
    first = moment(AUTUMN, "03:30")
    go_to(installation, first - SECOND)
    wait_for_morning(installation, people, AUTUMN)
    go_to(installation, first + HOUR - SECOND)
    wait_for_ticks(installation, worker)
    following = moment(AUTUMN + ONE, "03:30")
    go_to(installation, following - SECOND)
    wait_for_morning(installation, people, AUTUMN + ONE)

    mornings = posts(installation)
    assert len(mornings) == 3 * len(people)
    assert all(any(due <= post.at < due + MINUTE for due in (left_out, first, following)) for post in mornings)


def test_a_clock_that_steps_back_in_mid_run_brings_nothing_twice(installation: Installation) -> None:
    people = installation.add_people(60)
    make_fundraiser()
    make_fundraiser()
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "10"
    day = date(2027, 6, 1)
    go_to(installation, moment(day, "08:00:05"))
    installation.enable_schedule()
    worker = installation.worker(concurrency=3)
    installation.beat()
    installation.wait_for_count(Delivery.Status.SENT, least=5)

    installation.pass_time(-60)  # to before the hour, and before the plan
    wait_for_ticks(installation, worker)
    installation.pass_time(3600)
    before = sum(served_on(installation, day).values())
    installation.wait_until(lambda: sum(served_on(installation, day).values()) > before + 3, what="the run to go on")
    installation.pass_time(-60)

    assert installation.wait_for_status("finished")["counts"]["sent"] == len(people)
    assert Broadcast.objects.count() == 1
    assert served_on(installation, day) == dict.fromkeys(people, 1)
