"""What can never be false of an alert."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from donate1024.alerts.models import LEASE, PERIOD, Alert
from donate1024.alerts.rows import _take_due

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


def make_alert(**facts: Any) -> Alert:
    defaults = {"key": "roof", "is_condition": True, "text": "It leaks.", "count": 1, "first_at": NOON, "last_at": NOON}
    return Alert.objects.create(**defaults | facts)


def test_of_one_key_only_one_is_open() -> None:
    make_alert(recovered_at=NOON)
    make_alert()

    with pytest.raises(IntegrityError, match="alert_open_once_per_key"):
        make_alert()


@pytest.mark.parametrize("facts", [{"told_at": NOON}, {"route": "telegram"}, {"told_at": NOON, "route": "pigeon"}])
def test_what_was_told_went_by_a_route(facts: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="alert_told_has_route"):
        make_alert(**facts)


def test_no_more_is_told_than_was_counted() -> None:
    with pytest.raises(IntegrityError, match="alert_told_is_counted"):
        make_alert(told_at=NOON, route="email", told_count=2)


def test_the_last_time_is_not_before_the_first() -> None:
    with pytest.raises(IntegrityError, match="alert_last_is_not_before_first"):
        make_alert(last_at=NOON - timedelta(seconds=1))


def test_what_comes_again_by_a_clock_that_is_behind_keeps_its_last_time() -> None:
    alert, behind = make_alert(), NOON - timedelta(hours=1)

    alert.repeat(at=behind)
    alert.fold_in(Alert(key="roof", text="It leaks.", count=1, first_at=behind, last_at=behind), at=NOON)

    alert.save()
    assert (alert.count, alert.last_at) == (3, NOON)


def test_what_ended_three_months_ago_is_forgotten() -> None:
    at = NOON + timedelta(days=90, seconds=1)
    make_alert(key="over", recovered_at=NOON)
    make_alert(key="over since", recovered_at=NOON + timedelta(seconds=1))
    make_alert(key="untold", recovered_at=NOON, tell_at=NOON)
    make_alert(key="open")

    Alert.objects.prune(at=at)

    assert set(Alert.objects.values_list("key", flat=True)) == {"over since", "untold", "open"}


def test_who_takes_one_keeps_it_from_the_others_for_a_minute() -> None:
    make_alert(tell_at=NOON)

    first, second = _take_due(at=NOON), _take_due(at=NOON)
    after_a_death = _take_due(at=NOON + LEASE)

    assert [bool(first), bool(second), bool(after_a_death)] == [True, False, True]


def test_what_was_tried_longest_ago_comes_first() -> None:
    make_alert(key="tried", tell_at=NOON, held_until=NOON)
    make_alert(key="new", tell_at=NOON + timedelta(seconds=1))

    taken = [_take_due(at=NOON + timedelta(minutes=1)) for _ in range(3)]

    assert [alert and alert.key for alert in taken] == ["new", "tried", None]


@pytest.mark.parametrize("facts", [{"tell_at": NOON}, {"tell_at": NOON - PERIOD, "held_until": NOON}])
def test_a_clock_put_back_holds_nothing_back(facts: dict[str, Any]) -> None:
    alert, an_hour_before = make_alert(**facts), NOON - timedelta(hours=1)

    is_due = alert.is_due(at=an_hour_before)

    assert is_due
    assert _take_due(at=an_hour_before) == alert
