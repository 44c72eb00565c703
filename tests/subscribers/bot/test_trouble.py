"""The pauses after failures to fetch updates, and what is told of them."""

import logging

import pytest
from telegram.error import Conflict, NetworkError

from subscribers.bot.trouble import Trouble

OTHER = Conflict("Conflict: terminated by other getUpdates request")
WEBHOOK = Conflict("Conflict: can't use getUpdates method while webhook is active")


@pytest.fixture(autouse=True)
def from_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "subscribers.bot.trouble")


def alerts(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.ERROR]


def test_the_pauses_grow_to_half_a_minute_and_begin_anew_after_a_success() -> None:
    trouble = Trouble()

    pauses = [trouble.pause_after(NetworkError("no answer"), at=second) for second in range(7)]
    trouble.end(at=7)

    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    assert trouble.pause_after(NetworkError("no answer"), at=8) == 1


def test_a_minute_of_another_poller_is_no_alert(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    for second in (0, 30, 60, 90):
        trouble.pause_after(OTHER, at=second)

    assert alerts(caplog) == []
    assert len(caplog.records) == 1


def test_ten_minutes_of_another_poller_are_one_alert(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    for second in range(0, 601, 30):
        trouble.pause_after(OTHER, at=second)

    assert len(alerts(caplog)) == 1
    assert len(caplog.records) == 2


def test_a_success_between_two_conflicts_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    for second in range(0, 601, 30):
        trouble.pause_after(OTHER, at=second)
        is_over = trouble.end(at=second + 15)
        assert not is_over

    assert len(alerts(caplog)) == 1
    assert len(caplog.records) == 2


def test_a_conflict_is_over_when_it_was_not_met_for_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()
    trouble.pause_after(OTHER, at=0)

    ends = [trouble.end(at=second) for second in (30, 61, 91)]

    assert ends == [False, True, False]
    assert caplog.records[-1].message == "Updates come again, after 61 s"


def test_a_webhook_is_one_alert_and_is_over_at_the_first_success(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()
    for second in (0, 1, 3):
        trouble.pause_after(WEBHOOK, at=second)

    is_over = trouble.end(at=7)

    assert is_over
    assert len(alerts(caplog)) == 1


def test_the_first_success_of_a_process_says_that_all_is_well() -> None:
    trouble = Trouble()

    assert trouble.end(at=0)
    assert not trouble.end(at=30)
