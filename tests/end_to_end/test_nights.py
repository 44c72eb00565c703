"""What the quiet hour and midnight do to a run that they reach, and to people who come and go at night."""

from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from delivery import control, reasons
from delivery.models import Broadcast, Delivery
from posts import clock
from subscribers.models import Subscriber
from tests.end_to_end.days import go_to, moment, posts, wait_for_morning, wait_for_ticks
from tests.end_to_end.installation import Installation, Process
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

TODAY = date(2027, 6, 1)
TOMORROW = TODAY + timedelta(days=1)
UNDER_WAY = timedelta(seconds=3)  # for calls that began before the hour


def start_run(installation: Installation, *, count: int) -> tuple[list[int], Process]:
    """Everybody's morning, at five a second, of which some have had theirs."""
    people = installation.add_people(count)
    make_fundraiser(title="Сьогодні", pinned_to=TODAY)
    make_fundraiser(title="Завтра", pinned_to=TOMORROW)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "5"
    go_to(installation, moment(TODAY, "08:00:05"))
    installation.enable_schedule()
    worker = installation.worker(concurrency=3)
    installation.beat()
    wait_for_more(installation)
    return people, worker


def wait_for_more(installation: Installation) -> None:
    before = len(posts(installation))
    installation.wait_until(lambda: len(posts(installation)) > before, what="more posts")


def say(installation: Installation, chat_id: int, text: str) -> None:
    installation.sandbox.post("/control/say", {"chat_id": chat_id, "text": text})


def come(installation: Installation, chat_id: int) -> None:
    """Somebody new presses «start», and is welcome."""
    installation.sandbox.post("/control/chats", [{"chat_id": chat_id, "state": "new", "first_name": "Оля"}])
    say(installation, chat_id, "/start")
    installation.wait_until(lambda: Subscriber.objects.filter(chat_id=chat_id).exists(), what="the newcomer")


def test_a_run_asks_at_the_quiet_hour_and_what_a_person_resumes_ends_at_midnight(installation: Installation) -> None:
    installation.bot().wait_for("The bot listens")
    people, worker = start_run(installation, count=45)
    quiet, midnight = moment(TODAY, "22:00"), moment(TOMORROW, "00:00")
    late, early, leaver = 5005, 6006, posts(installation)[0].chat_id

    go_to(installation, quiet - timedelta(seconds=1))
    assert installation.wait_for_status("paused")["paused_because"] == reasons.QUIET_HOUR
    assert max(post.at for post in posts(installation)) < quiet + UNDER_WAY
    go_to(installation, moment(TODAY, "23:50"))
    come(installation, late)
    control.resume(Broadcast.objects.get(), by="Ольга", at=clock.now())
    wait_for_more(installation)
    go_to(installation, moment(TODAY, "23:59"))
    say(installation, leaver, "/stop")
    go_to(installation, midnight - timedelta(seconds=1))
    wait_for_ticks(installation, worker)
    come(installation, early)
    wait_for_ticks(installation, worker)

    todays = Broadcast.objects.get(date=TODAY)
    expired = todays.deliveries.filter(status=Delivery.Status.SKIPPED, reason=reasons.EXPIRED)
    unserved = set(expired.values_list("subscriber__chat_id", flat=True))
    assert todays.status == "expired"
    assert set() < unserved < {*people}  # the newcomer was never meant to get it
    assert sorted(post.chat_id for post in posts(installation)) == sorted({*people} - unserved)
    go_to(installation, moment(TOMORROW, "07:59:59"))
    wait_for_morning(installation, {*people, late, early} - {leaver}, TOMORROW)
    assert max(post.at for post in posts(installation) if post.title == "Сьогодні") < midnight + UNDER_WAY
    assert min(post.at for post in posts(installation) if post.title == "Завтра") >= moment(TOMORROW, "08:00")


def test_yesterdays_paused_run_cannot_be_resumed_and_todays_goes_out(
    installation: Installation, admin_client: Client
) -> None:
    people, worker = start_run(installation, count=25)
    go_to(installation, moment(TODAY, "22:00:01"))
    installation.wait_for_status("paused")
    served = len(posts(installation))
    yesterdays = Broadcast.objects.get(date=TODAY)

    go_to(installation, moment(TOMORROW, "00:00:01"))
    resume = reverse("admin:delivery_act_on_day", args=[TODAY, "resume"])
    at_once = admin_client.post(resume, follow=True)
    wait_for_ticks(installation, worker)
    later = admin_client.post(resume, follow=True)
    wait_for_ticks(installation, worker)

    for answer in (at_once, later):
        assert "error" in [message.level_tag for message in answer.context["messages"]]
    yesterdays.refresh_from_db()
    assert (yesterdays.status, yesterdays.reason) == ("expired", reasons.DAY_IS_OVER)
    assert yesterdays.deliveries.filter(status=Delivery.Status.SKIPPED).count() == len(people) - served > 0
    assert len(posts(installation)) == served
    go_to(installation, moment(TOMORROW, "07:59:59"))
    wait_for_morning(installation, people, TOMORROW)
    assert {post.title for post in posts(installation) if post.at.date() == TOMORROW} == {"Завтра"}
