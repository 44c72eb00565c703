"""Whether somebody else gets our updates: what the planner asks before it plans."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from subscribers.models import PollingConflict

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 29, 9, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def seen(*moments: float, is_webhook: bool = False) -> None:
    for seconds in moments:
        PollingConflict.objects.seen(is_webhook=is_webhook, at=after(seconds))


def is_told(seconds: float) -> bool:
    return PollingConflict.objects.another_installation(at=after(seconds)) is not None


def test_there_is_one_row() -> None:
    seen(0)

    with pytest.raises(IntegrityError, match="polling_conflict_is_one_row"), transaction.atomic():
        PollingConflict.objects.create(pk=2, since=NOON, seen_at=NOON, is_webhook=False)


def test_a_minute_is_a_restart_and_more_is_another_installation() -> None:
    seen(0, 30, 60, 90)
    is_overlap_told = is_told(90)

    seen(91)

    assert not is_overlap_told
    assert is_told(91)


def test_a_webhook_is_one_at_once() -> None:
    seen(0, is_webhook=True)

    assert is_told(0)


def test_what_was_seen_is_old_after_two_minutes() -> None:
    seen(0, 100)

    assert is_told(100 + 120)
    assert not is_told(100 + 121)


def test_a_conflict_after_a_break_counts_anew() -> None:
    seen(0, 100, 86_400, 86_410)

    assert not is_told(86_410)
    assert PollingConflict.objects.get().since == after(86_400)


def test_a_poller_in_place_of_a_webhook_goes_on_counting() -> None:
    seen(0, is_webhook=True)

    seen(100)

    assert is_told(100)
    assert not PollingConflict.objects.get().is_webhook


def test_when_polling_works_again_nothing_is_left() -> None:
    seen(0, 100)

    PollingConflict.objects.over()

    assert not is_told(100)
