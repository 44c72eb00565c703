"""The schedule edited while everything runs: heard of without a restart, and never fired by the edit itself."""

from datetime import date, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from delivery.models import Broadcast, DailySchedule, Delivery
from tests.end_to_end.days import go_to, moment, posts, served_on, wait_for_morning, wait_for_ticks
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

DAY = date(2027, 6, 1)
DAYS = [DAY + timedelta(days=number) for number in range(6)]


def edit(curator: Client, **changes: Any) -> None:
    """As the curator does it, on the schedule's page."""
    schedule = DailySchedule.load()
    form = {
        "is_enabled": schedule.is_enabled,
        "send_at": schedule.send_at,
        "latest_after": schedule.latest_after,
        "quiet_from": schedule.quiet_from,
    }
    form |= changes
    sent = {name: value for name, value in form.items() if value is not False}  # an empty box sends nothing
    answer = curator.post(reverse("admin:delivery_dailyschedule_change", args=[schedule.pk]), sent)
    assert answer.status_code == 302


def test_an_hour_moved_later_is_the_only_one_and_a_run_keeps_the_hours_it_began_with(
    installation: Installation, admin_client: Client
) -> None:
    people = installation.add_people(30)
    make_fundraiser()
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "5"
    go_to(installation, moment(DAY, "12:20"))
    installation.enable_schedule(send_at=time(13, 30))
    worker = installation.worker(concurrency=3)
    installation.beat()

    edit(admin_client, send_at="16:00")
    wait_for_ticks(installation, worker)
    go_to(installation, moment(DAY, "13:30:05"))
    wait_for_ticks(installation, worker)
    go_to(installation, moment(DAY, "15:59:59"))
    installation.wait_for_count(Delivery.Status.SENT, least=3)
    edit(admin_client, quiet_from="18:30", latest_after="00:10:00")
    go_to(installation, moment(DAY, "18:30:05"))

    installation.wait_for_status("finished")
    assert served_on(installation, DAY) == dict.fromkeys(people, 1)
    assert min(post.at for post in posts(installation)) >= moment(DAY, "16:00")


def test_a_schedule_that_was_off_for_three_days_fires_on_the_next_morning_and_has_missed_nothing(
    installation: Installation, admin_client: Client
) -> None:
    people = installation.add_people(3)
    make_fundraiser()
    make_fundraiser()
    go_to(installation, moment(DAYS[0], "07:59:59"))
    installation.enable_schedule()
    worker = installation.worker()
    installation.beat()
    wait_for_morning(installation, people, DAYS[0])

    edit(admin_client, is_enabled=False)
    for day in DAYS[1:4]:
        go_to(installation, moment(day, "09:00"))
        wait_for_ticks(installation, worker)
    go_to(installation, moment(DAYS[3], "15:00"))
    edit(admin_client, is_enabled=True)
    wait_for_ticks(installation, worker)
    DailySchedule.objects.update(send_at=time(14))  # in bulk, past its page: the window of that hour is open
    wait_for_ticks(installation, worker)

    assert Broadcast.objects.count() == 1
    go_to(installation, moment(DAYS[4], "13:59:59"))
    wait_for_morning(installation, people, DAYS[4])
    assert len(posts(installation)) == 2 * len(people)
    assert set(Broadcast.objects.values_list("date", flat=True)) == {DAYS[0], DAYS[4]}
    assert " ERROR delivery." not in worker.written()  # the watch may miss the bot, which is not there
