import json
from datetime import date, timedelta

import pytest
import redis
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery import reasons
from delivery.models import Broadcast, DailySchedule, Delivery
from delivery.refusals import AlreadyPlanned, CannotPlan, NotApproved, NothingSendable
from posts.models import Fundraiser, PaymentMethod
from tests.delivery.morning import DAY, MORNING, QUIET, plan
from tests.delivery.traces import errors
from tests.factories import (
    make_broadcast,
    make_delivery,
    make_fundraiser,
    make_picture,
    make_subscriber,
)

pytestmark = pytest.mark.django_db


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
    plan(day=DAY - timedelta(days=1))
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

    with pytest.raises(AlreadyPlanned):
        plan()

    assert (Broadcast.objects.count(), Delivery.objects.count()) == (1, 1)


@pytest.mark.parametrize("status", [status for status in Broadcast.Status if status != Broadcast.Status.EXPIRED])
def test_a_day_with_a_broadcast_in_any_state_is_not_planned_again(status: str) -> None:
    make_broadcast(status=status, reason="дощ", finished_at=MORNING)

    with pytest.raises(AlreadyPlanned, match=r"2026-03-29"):
        plan()


def test_a_broadcast_that_expired_with_its_deliveries_is_not_planned_again() -> None:
    make_delivery(make_broadcast(status="expired", reason="the next day's broadcast came"))

    with pytest.raises(AlreadyPlanned):
        plan()


def test_a_row_that_expired_without_deliveries_is_taken_over() -> None:
    fundraiser = make_fundraiser()
    make_subscriber()
    expired = Broadcast.objects.create(date=DAY, status="expired", reason=reasons.MISSED)

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

    with pytest.raises(NotApproved, match=f"fundraiser {fundraiser.pk} is not approved: {status}"):
        plan(fundraiser_id=fundraiser.pk)

    assert not Broadcast.objects.exists()


@pytest.mark.parametrize("unknown", [0, 987654])
def test_a_fundraiser_that_does_not_exist_is_refused_even_when_another_might_be_shown(unknown: int) -> None:
    make_fundraiser()

    with pytest.raises(NotApproved, match=f"there is no fundraiser {unknown}"):
        plan(fundraiser_id=unknown)


def test_a_named_fundraiser_goes_before_the_one_whose_turn_it_is() -> None:
    named = make_fundraiser(times_shown=9, last_shown_on=date(2026, 1, 1))
    make_fundraiser(pinned_to=DAY)

    assert plan(fundraiser_id=named.pk).fundraiser == named


def test_a_named_fundraiser_that_cannot_be_rendered_any_more_is_refused_with_the_reason() -> None:
    fundraiser = make_fundraiser()
    PaymentMethod.objects.all().delete()

    with pytest.raises(CannotPlan, match=rf"fundraiser {fundraiser.pk} .*There is no way to pay"):
        plan(fundraiser_id=fundraiser.pk)

    assert not Broadcast.objects.exists()


def test_one_that_cannot_be_rendered_any_more_gives_its_morning_to_the_next(caplog: pytest.LogCaptureFixture) -> None:
    spoiled = make_fundraiser(priority=1)
    PaymentMethod.objects.all().delete()
    sendable = make_fundraiser()

    broadcast = plan()

    assert broadcast.fundraiser == sendable
    (told,) = errors(caplog)
    assert f"could not be sent: fundraiser {spoiled.pk} cannot be sent: " in told


def test_where_none_can_be_sent_each_is_named_and_none_is_said_to_go(caplog: pytest.LogCaptureFixture) -> None:
    first, second = make_fundraiser(), make_fundraiser()
    PaymentMethod.objects.all().delete()

    with pytest.raises(NothingSendable) as said:
        plan()

    assert f"fundraiser {first.pk} cannot be sent" in str(said.value)
    assert f"fundraiser {second.pk} cannot be sent" in str(said.value)
    assert errors(caplog) == []


def test_too_few_fundraisers_shorten_the_rest_and_say_so(caplog: pytest.LogCaptureFixture) -> None:
    make_fundraiser(times_shown=1, last_shown_on=DAY - timedelta(days=3))

    plan()

    assert "too few fundraisers: shown again after 3 days" in caplog.text
