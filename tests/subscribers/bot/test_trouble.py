"""The pauses after failures to fetch updates, and what is told of them."""

import logging
from datetime import timedelta

import pytest
from telegram.error import Conflict, InvalidToken, NetworkError, RetryAfter, TelegramError

from subscribers.bot.polling import WAIT
from subscribers.bot.trouble import LONGEST_PAUSE, WITHOUT_TOKEN_PAUSE, Trouble
from subscribers.telegram.client import POLL_GRACE
from subscribers.telegram.transport import CONNECT_WITHIN

NO_ANSWER = NetworkError("no answer")
OTHER = Conflict("Conflict: terminated by other getUpdates request")
WEBHOOK = Conflict("Conflict: can't use getUpdates method while webhook is active")


@pytest.fixture(autouse=True)
def from_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "subscribers.bot.trouble")


def fail(trouble: Trouble, error: TelegramError, *, at: float, took: float = 0) -> float:
    """The pause after a request that failed so many seconds after it was made."""
    return trouble.pause_after(error, asked_at=at - took, at=at)


def alerts(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.ERROR]


def opened(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.__dict__["opens"] for record in caplog.records if "opens" in record.__dict__]


def closed(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.__dict__["closes"] for record in caplog.records if "closes" in record.__dict__]


def test_the_pauses_grow_to_half_a_minute_and_begin_anew_after_a_success() -> None:
    trouble = Trouble()

    pauses = [fail(trouble, NO_ANSWER, at=second) for second in range(7)]
    trouble.end(at=7)

    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    assert fail(trouble, NO_ANSWER, at=8) == 1


def test_a_minute_of_another_poller_is_no_alert(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    for second in (0, 30, 60, 90):
        fail(trouble, OTHER, at=second)

    assert alerts(caplog) == []
    assert len(caplog.records) == 1


def test_ten_minutes_of_another_poller_are_one_alert(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    for second in range(0, 601, 30):
        fail(trouble, OTHER, at=second)

    assert len(alerts(caplog)) == 1
    assert len(caplog.records) == 2


def test_a_success_between_two_conflicts_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    for second in range(0, 601, 30):
        fail(trouble, OTHER, at=second)
        is_over = trouble.end(at=second + 15)
        assert not is_over

    assert len(alerts(caplog)) == 1
    assert len(caplog.records) == 2


def test_a_conflict_is_over_when_it_was_not_met_for_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()
    fail(trouble, OTHER, at=0)

    ends = [trouble.end(at=second) for second in (30, 61, 91)]

    assert ends == [False, True, False]
    assert "Updates come again, after 61 s" in caplog.messages


def test_a_webhook_is_one_alert_and_is_over_at_the_first_success(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()
    for second in (0, 1, 3):
        fail(trouble, WEBHOOK, at=second)

    is_over = trouble.end(at=7)

    assert is_over
    assert len(alerts(caplog)) == 1


def test_the_first_success_of_a_process_says_that_all_is_well() -> None:
    trouble = Trouble()

    assert trouble.end(at=0)
    assert not trouble.end(at=30)


def test_a_telegram_out_of_reach_is_told_once_after_a_minute_and_a_half(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    fail(trouble, NO_ANSWER, at=40, took=40)  # deaf since the request, not since its end
    fail(trouble, NO_ANSWER, at=89)
    before = opened(caplog)
    for second in (90, 120):
        fail(trouble, NO_ANSWER, at=second)

    assert before == []
    assert opened(caplog) == ["polling"]


def test_a_long_wait_that_telegram_asks_for_is_told_before_it(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    short = fail(trouble, RetryAfter(89), at=0)
    before = opened(caplog)
    long = fail(trouble, RetryAfter(timedelta(minutes=10)), at=0)

    assert (short, long) == (89, 600)
    assert before == []
    assert opened(caplog) == ["polling"]


def test_each_kind_of_trouble_is_told_under_its_own_name(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()

    fail(trouble, InvalidToken(), at=0)
    fail(trouble, WEBHOOK, at=1)
    fail(trouble, OTHER, at=91)
    fail(trouble, NO_ANSWER, at=92)

    assert opened(caplog) == ["token", "webhook", "conflict", "polling"]


def test_what_was_told_is_over_when_updates_come(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()
    trouble.end(at=0)
    caplog.clear()
    fail(trouble, InvalidToken(), at=1)
    fail(trouble, NO_ANSWER, at=100)

    trouble.end(at=101)

    assert closed(caplog) == ["polling", "token"]


def test_a_short_trouble_that_nobody_was_told_of_closes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble()
    trouble.end(at=0)
    caplog.clear()
    fail(trouble, NO_ANSWER, at=1)

    trouble.end(at=2)

    assert closed(caplog) == []


def test_the_first_success_of_a_process_closes_what_an_earlier_one_may_have_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Trouble().end(at=0)

    assert closed(caplog) == ["conflict", "polling", "token", "webhook"]


def test_updates_come_within_two_minutes_of_the_networks_return() -> None:
    dies = CONNECT_WITHIN + WAIT + POLL_GRACE  # of a request that was made just before
    pause = max(LONGEST_PAUSE, WITHOUT_TOKEN_PAUSE)

    assert dies + pause + CONNECT_WITHIN < 120


def test_a_process_that_stood_still_for_minutes_was_not_cut_off_from_telegram(caplog: pytest.LogCaptureFixture) -> None:
    fail(Trouble(), NO_ANSWER, at=300, took=300)

    assert alerts(caplog) == []
