from datetime import UTC, date, datetime, time, timedelta

import pytest
from pytest_django.fixtures import Settings

from posts import clock

SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)  # 03:00 becomes 04:00, 04:00 becomes 03:00


@pytest.mark.django_db
def test_now_is_the_databases_clock_and_the_sandboxs_offset(settings: Settings) -> None:
    before = clock.now()
    (settings.STATE_DIR / "clock-offset").write_text("86400")

    try:
        tomorrow = clock.now()
    finally:
        (settings.STATE_DIR / "clock-offset").unlink()

    assert before.tzinfo is UTC
    assert timedelta(days=1) <= tomorrow - before < timedelta(days=1, minutes=5)


def test_outside_the_sandbox_no_file_moves_the_clock(settings: Settings) -> None:
    (settings.STATE_DIR / "clock-offset").write_text("86400")
    settings.SANDBOX = False

    try:
        assert clock.offset() == timedelta(0)
    finally:
        (settings.STATE_DIR / "clock-offset").unlink()


@pytest.mark.parametrize(
    ("day", "hour", "moment"),
    [
        (SPRING, time(8), datetime(2026, 3, 29, 5, tzinfo=UTC)),
        (SPRING, time(3, 30), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),  # clocks show 04:30
        (AUTUMN, time(8), datetime(2026, 10, 25, 6, tzinfo=UTC)),
        (AUTUMN, time(3, 30), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),  # the first of the two
    ],
)
def test_an_hour_of_a_clock_change_day_is_one_moment(day: date, hour: time, moment: datetime) -> None:
    assert clock.local_moment(day, hour) == moment


def test_the_day_begins_at_midnight_in_kyiv() -> None:
    assert clock.local_date(datetime(2026, 3, 28, 22, 30, tzinfo=UTC)) == SPRING
    assert clock.local_date(datetime(2026, 3, 29, 20, 59, tzinfo=UTC)) == SPRING
    assert clock.local_date(datetime(2026, 3, 29, 21, tzinfo=UTC)) == date(2026, 3, 30)
