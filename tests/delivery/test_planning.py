import base64
import json
import logging
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter
from threading import Event, Thread
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import redis
from django.conf import LazySettings
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from delivery import planning
from delivery.models import Broadcast, DailySchedule, Delivery
from posts.models import Fundraiser, PaymentMethod
from posts.showing import NothingToShow
from tests.delivery.together import together
from tests.factories import (
    make_broadcast,
    make_delivery,
    make_fundraiser,
    make_picture,
    make_schedule,
    make_subscriber,
)

pytestmark = pytest.mark.django_db

KYIV = ZoneInfo("Europe/Kyiv")
DAY = date(2026, 3, 29)
MORNING = datetime(2026, 3, 29, 8, 0, 20, tzinfo=KYIV)
QUIET, MIDNIGHT = datetime(2026, 3, 29, 22, tzinfo=KYIV), datetime(2026, 3, 30, tzinfo=KYIV)


def plan(**facts: Any) -> Broadcast:
    DailySchedule.load()
    return planning.plan_broadcast(**{"day": DAY, "at": MORNING, "run_until": QUIET} | facts)


def queued(broker: redis.Redis) -> list[dict[str, Any]]:
    messages: Any = broker.lrange("telegram", 0, -1)
    return [json.loads(message) for message in messages]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_plan_is_the_broadcast_and_one_pending_delivery_for_each_active_subscriber() -> None:
    fundraiser = make_fundraiser()
    active = [make_subscriber(), make_subscriber(chat_id=-4500)]
    for reason in ("stopped", "blocked", "deactivated", "unreachable"):
        make_subscriber(left_reason=reason)

    broadcast = plan()

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.date, broadcast.revision) == ("planned", DAY, 1)
    assert (broadcast.fundraiser, broadcast.planned_at, broadcast.run_until) == (fundraiser, MORNING, QUIET)
    assert (broadcast.first_sent_at, broadcast.finished_at, broadcast.hold_until) == (None, None, None)
    deliveries = broadcast.deliveries.order_by("subscriber_id")
    assert [delivery.subscriber for delivery in deliveries] == active
    assert {(row.status, row.channel, row.revision, row.not_before) for row in deliveries} == {
        ("pending", "telegram", 1, MORNING)
    }


def test_a_plan_is_no_showing() -> None:
    fundraiser = make_fundraiser()

    plan()

    fundraiser.refresh_from_db()
    assert (fundraiser.times_shown, fundraiser.last_shown_on) == (0, None)


def test_what_was_planned_does_not_follow_later_edits() -> None:
    fundraiser = make_fundraiser(title="Дрон", picture=make_picture(color="navy"))
    planned = plan()
    text, buttons, picture = planned.text, planned.buttons, planned.picture_id

    Fundraiser.objects.filter(pk=fundraiser.pk).update(title="Тягач", text="Інше", picture=make_picture(color="red"))
    PaymentMethod.objects.update(link="https://send.monobank.ua/jar/ANOTHER999")

    planned.refresh_from_db()
    assert (planned.text, planned.buttons, planned.picture_id) == (text, buttons, picture)
    assert "Дрон" in text
    assert "SANDBOX" in json.dumps(buttons)
    assert picture


def test_planning_asks_as_many_queries_for_many_recipients_as_for_none() -> None:
    make_fundraiser()
    DailySchedule.load()
    with CaptureQueriesContext(connection) as for_none:
        plan()
    for _ in range(30):
        make_subscriber()

    with CaptureQueriesContext(connection) as for_many:
        plan(day=DAY + timedelta(days=1))

    assert len(for_many) == len(for_none)
    assert Delivery.objects.count() == 30


def test_a_day_is_planned_once(broker: redis.Redis) -> None:
    make_fundraiser()
    make_subscriber()
    plan()
    make_subscriber()

    with pytest.raises(planning.AlreadyPlanned):
        plan()

    assert (Broadcast.objects.count(), Delivery.objects.count()) == (1, 1)


@pytest.mark.parametrize("status", [status for status in Broadcast.Status if status != Broadcast.Status.EXPIRED])
def test_a_day_with_a_broadcast_in_any_state_is_not_planned_again(status: str) -> None:
    make_broadcast(status=status, reason="дощ", finished_at=MORNING)

    with pytest.raises(planning.AlreadyPlanned, match=r"2026-03-29"):
        plan()


def test_a_broadcast_that_expired_with_its_deliveries_is_not_planned_again() -> None:
    make_delivery(make_broadcast(status="expired", reason="the next day's broadcast came"))

    with pytest.raises(planning.AlreadyPlanned):
        plan()


def test_a_row_that_expired_without_deliveries_is_taken_over() -> None:
    fundraiser = make_fundraiser()
    make_subscriber()
    expired = Broadcast.objects.create(date=DAY, status="expired", reason=planning.MISSED)

    planned = plan()

    assert planned.pk == expired.pk
    planned.refresh_from_db()
    assert (planned.status, planned.reason, planned.fundraiser) == ("planned", "", fundraiser)
    assert planned.deliveries.count() == 1


def test_the_next_days_plan_expires_what_is_unfinished_and_leaves_the_rest() -> None:
    yesterday = DAY - timedelta(days=1)
    days = {status: yesterday - timedelta(days=number) for number, status in enumerate(Broadcast.Status)}
    before = {
        status: make_broadcast(date=day, status=status, reason="дощ", finished_at=MORNING)
        for status, day in days.items()
    }
    tomorrows = make_broadcast(date=DAY + timedelta(days=1))

    plan()

    now = {status: Broadcast.objects.get(pk=broadcast.pk) for status, broadcast in before.items()}
    changed = {status for status, broadcast in now.items() if broadcast.status != status}
    assert changed == {"planned", "sending", "paused"}
    assert {(now[status].status, now[status].reason) for status in changed} == {
        ("expired", "the next day's broadcast came")
    }
    tomorrows.refresh_from_db()
    assert tomorrows.status == "planned"


@pytest.mark.parametrize("status", [status for status in Fundraiser.Status if status != Fundraiser.Status.APPROVED])
def test_a_fundraiser_that_is_not_approved_is_not_planned_by_hand_either(status: str) -> None:
    fundraiser = make_fundraiser(status=status)

    with pytest.raises(planning.NotApproved, match=f"fundraiser {fundraiser.pk} is not approved: {status}"):
        plan(fundraiser_id=fundraiser.pk)

    assert not Broadcast.objects.exists()


@pytest.mark.parametrize("unknown", [0, 987654])
def test_a_fundraiser_that_does_not_exist_is_refused_even_when_another_might_be_shown(unknown: int) -> None:
    make_fundraiser()

    with pytest.raises(planning.NotApproved, match=f"there is no fundraiser {unknown}"):
        plan(fundraiser_id=unknown)


def test_a_named_fundraiser_goes_before_the_one_whose_turn_it_is() -> None:
    named = make_fundraiser(times_shown=9, last_shown_on=date(2026, 1, 1))
    make_fundraiser(pinned_to=DAY)

    assert plan(fundraiser_id=named.pk).fundraiser == named


def test_an_approved_fundraiser_that_cannot_be_rendered_any_more_is_refused_with_the_reason() -> None:
    fundraiser = make_fundraiser()
    PaymentMethod.objects.all().delete()

    with pytest.raises(planning.CannotPlan, match=rf"fundraiser {fundraiser.pk} .*There is no way to pay"):
        plan()

    assert not Broadcast.objects.exists()


def test_too_few_fundraisers_shorten_the_rest_and_say_so(caplog: pytest.LogCaptureFixture) -> None:
    make_fundraiser(times_shown=1, last_shown_on=DAY - timedelta(days=3))

    plan()

    assert "too few fundraisers: shown again after 3 days" in caplog.text


# All or nothing: the first accident.


@pytest.mark.django_db(transaction=True)
def test_an_exception_after_the_enqueue_call_leaves_no_row_and_no_job(broker: redis.Redis) -> None:
    make_fundraiser()
    make_subscriber()

    def plan_and_fail() -> None:
        with transaction.atomic():
            plan()
            raise LookupError("a later line")

    with pytest.raises(LookupError):
        plan_and_fail()

    assert (Broadcast.objects.count(), Delivery.objects.count()) == (0, 0)
    assert broker.keys() == []


@pytest.mark.django_db(transaction=True)
def test_a_plan_enqueues_one_slice_a_sender_after_the_commit(broker: redis.Redis, settings: LazySettings) -> None:
    settings.TELEGRAM_SENDERS = 3
    make_fundraiser()

    with transaction.atomic():
        broadcast = plan()
        before_the_commit = queued(broker)

    assert before_the_commit == []
    messages = queued(broker)
    args, kwargs, _ = zip(*(json.loads(base64.b64decode(message["body"])) for message in messages), strict=True)
    assert args == ([], [], [])
    assert sorted(kwargs, key=itemgetter("slot")) == [{"broadcast_id": broadcast.pk, "slot": slot} for slot in range(3)]
    headers = [message["headers"] for message in messages]
    assert {header["task"] for header in headers} == {"delivery.send_slice"}
    lifetimes = {datetime.fromisoformat(header["expires"]) - datetime.now(UTC) for header in headers}
    assert all(timedelta(seconds=30) < left <= timedelta(seconds=60) for left in lifetimes)
    assert {header["eta"] for header in headers} == {None}


@pytest.mark.django_db(transaction=True)
def test_a_queue_that_is_away_does_not_undo_the_plan(settings: LazySettings, broker_away: None) -> None:
    make_fundraiser()
    make_subscriber()

    plan()

    assert Delivery.objects.count() == 1


# At once.


@pytest.mark.django_db(transaction=True)
def test_ten_ticks_and_starts_at_once_plan_one_broadcast_with_one_delivery_each() -> None:
    make_schedule()
    make_fundraiser()
    subscribers = [make_subscriber() for _ in range(20)]

    def start() -> Broadcast | None:
        try:
            return planning.start_broadcast(at=MORNING)
        except planning.AlreadyPlanned:
            return None

    def tick() -> Broadcast | None:
        return planning.plan_due_broadcast(at=MORNING)

    planned = together(*[tick, start] * 5)

    broadcast = Broadcast.objects.get()
    assert [one for one in planned if one] == [broadcast]
    assert broadcast.deliveries.count() == len(subscribers)


@pytest.mark.django_db(transaction=True)
def test_a_tick_does_not_wait_while_somebody_else_plans() -> None:
    make_schedule()
    make_fundraiser()
    is_locked, may_go = Event(), Event()

    def somebody_else() -> None:
        with transaction.atomic():
            DailySchedule.objects.select_for_update().get()
            is_locked.set()
            may_go.wait(10)
        connection.close()

    other = Thread(target=somebody_else)
    other.start()
    is_locked.wait(10)

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '2s'")
        answer = planning.plan_due_broadcast(at=MORNING)

    may_go.set()
    other.join()
    assert answer is None
    assert not Broadcast.objects.exists()


# The tick.


def test_a_tick_inside_the_window_plans_until_the_quiet_hour() -> None:
    make_schedule()
    make_fundraiser()

    broadcast = planning.plan_due_broadcast(at=MORNING)

    assert broadcast
    assert broadcast.run_until == QUIET
    assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=1)) is None


def test_a_tick_outside_the_window_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_fundraiser()

    assert planning.plan_due_broadcast(at=MORNING - timedelta(minutes=1)) is None

    assert not Broadcast.objects.exists()
    assert errors(caplog) == []


def test_a_missed_day_leaves_one_row_and_one_error(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_fundraiser()

    for minutes in (121, 122, 123):
        assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=minutes)) is None

    row = Broadcast.objects.get()
    assert (row.date, row.status, row.reason, row.deliveries.count()) == (DAY, "expired", planning.MISSED, 0)
    assert errors(caplog) == ["no broadcast on 2026-03-29: its hour went by"]


def test_nothing_to_show_leaves_one_row_and_one_error(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_subscriber()

    for minutes in (0, 1, 2, 119, 120, 121):
        assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=minutes)) is None

    row = Broadcast.objects.get()
    assert (row.status, row.reason, row.deliveries.count()) == ("expired", planning.NOTHING_TO_SHOW, 0)
    assert errors(caplog) == ["no broadcast on 2026-03-29: nothing to show"]


def test_a_fundraiser_approved_inside_the_window_heals_a_day_with_nothing_to_show() -> None:
    make_schedule()
    make_subscriber()
    planning.plan_due_broadcast(at=MORNING)
    make_fundraiser()

    broadcast = planning.plan_due_broadcast(at=MORNING + timedelta(minutes=30))

    assert broadcast == Broadcast.objects.get()
    assert broadcast.status == "planned"
    assert broadcast.deliveries.count() == 1


def test_a_fundraiser_approved_after_the_window_waits_for_a_person() -> None:
    make_schedule()
    planning.plan_due_broadcast(at=MORNING)
    make_fundraiser()

    assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=121)) is None

    assert Broadcast.objects.get().status == "expired"


def test_a_skipped_date_is_not_planned_whatever_its_reason() -> None:
    make_schedule()
    make_fundraiser()
    Broadcast.objects.create(date=DAY, status="skipped", reason=planning.NOTHING_TO_SHOW)

    assert planning.plan_due_broadcast(at=MORNING) is None

    assert Broadcast.objects.get().status == "skipped"


# A person's «start».


def test_a_start_inside_the_window_may_run_until_midnight() -> None:
    make_schedule()
    make_fundraiser()

    assert planning.start_broadcast(at=MORNING).run_until == MIDNIGHT


@pytest.mark.parametrize(
    ("facts", "at", "words"),
    [
        ({"is_enabled": False}, MORNING, "switched off"),
        ({"send_at": time(9)}, MORNING, "today's hour, 09:00, has not come"),
        ({}, MORNING.replace(hour=11), "today's hour, 08:00, went by"),
        ({"effective_from": MORNING.replace(hour=8, minute=0, second=1)}, MORNING, "counts from tomorrow"),
    ],
)
def test_a_start_that_is_not_due_says_why_and_plans_nothing(facts: dict[str, Any], at: datetime, words: str) -> None:
    make_schedule(**facts)
    make_fundraiser()

    with pytest.raises(planning.NotDue, match=words):
        planning.start_broadcast(at=at)

    assert not Broadcast.objects.exists()


@pytest.mark.parametrize("hour", [0, 7, 11, 23])
def test_a_start_now_ignores_the_schedule(hour: int) -> None:
    make_schedule(is_enabled=False)
    make_fundraiser()

    broadcast = planning.start_broadcast(at=MORNING.replace(hour=hour), now=True)

    assert (broadcast.date, broadcast.run_until) == (DAY, MIDNIGHT)


def test_a_start_now_never_plans_a_second_broadcast() -> None:
    make_broadcast(status="cancelled")

    with pytest.raises(planning.AlreadyPlanned, match="the broadcast of 2026-03-29 exists already: cancelled"):
        planning.start_broadcast(at=MORNING, now=True)


def test_a_start_now_takes_over_a_missed_day() -> None:
    make_schedule()
    make_fundraiser()
    late = MORNING + timedelta(hours=5)
    planning.plan_due_broadcast(at=late)

    broadcast = planning.start_broadcast(at=late, now=True)

    assert broadcast == Broadcast.objects.get()
    assert broadcast.status == "planned"


def test_a_start_with_nothing_to_show_says_so() -> None:
    make_schedule()

    with pytest.raises(NothingToShow, match="no approved fundraiser may be shown on 2026-03-29"):
        planning.start_broadcast(at=MORNING)
