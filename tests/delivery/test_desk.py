"""What the desk offers and says, from facts alone: no database."""

from datetime import timedelta
from typing import Any

import pytest

from delivery import acting, desk, reasons, telling
from delivery.desk import Act, Day
from delivery.models import Broadcast, DailySchedule, SendingLock
from posts.models import Fundraiser
from subscribers.models import PollingConflict
from tests.delivery.morning import DAY, MIDNIGHT, MORNING, local

LOCK = SendingLock(locked_at=MORNING, reason=reasons.COPY)
CONFLICT = PollingConflict(since=MORNING, seen_at=MORNING, is_webhook=False)
STOPS = {text for name, text in vars(reasons).items() if name.endswith("_REFUSED")} | {
    reasons.PAUSED_BY_HAND,
    reasons.LOCKED,
    reasons.QUIET_HOUR,
    reasons.LATE_START,
    reasons.WRONG_BOT,
}
HOLDS = {reasons.FLOODED, reasons.OUT_OF_REACH, reasons.NO_ANSWERS, reasons.UNFORESEEN}
DID_NOT_GO = {reasons.MISSED, reasons.NOTHING_TO_SHOW, reasons.SENT_ELSEWHERE}


def make_day(status: str = "", *, of: dict[str, Any] | None = None, **facts: Any) -> Day:
    """A day, at 08:00:20 of it, with a broadcast in that status; without one, nothing is planned yet."""
    if status:
        planned: dict[str, Any] = {"date": DAY, "status": status, "fundraiser_id": 7, "finished_at": MORNING}
        facts["broadcast"] = Broadcast(**planned | (of or {}))
    schedule = DailySchedule(is_enabled=True, effective_from=local(0))
    defaults: dict[str, Any] = {"date": DAY, "at": MORNING, "schedule": schedule, "turn": Fundraiser(title="На дрони")}
    return Day(**defaults | facts)


def make_missed(reason: str = reasons.MISSED, **facts: Any) -> Day:
    return make_day("expired", of={"fundraiser_id": None, "reason": reason}, **facts)


@pytest.mark.parametrize(
    ("day", "offered"),
    [
        (make_day(), [Act.SEND_NOW, Act.SKIP]),
        (make_missed(), [Act.SEND_NOW, Act.SKIP]),
        (make_day("planned"), [Act.PAUSE, Act.CANCEL]),
        (make_day("sending"), [Act.PAUSE, Act.CANCEL]),
        (make_day("paused", counts={"pending": 3}), [Act.RESUME, Act.REFREEZE, Act.CANCEL]),
        (make_day("finished"), []),
        (make_day("cancelled"), []),
        (make_day("skipped", of={"fundraiser_id": None}), [Act.UNSKIP]),
        (make_day("skipped", of={"fundraiser_id": None}, at=MORNING + timedelta(days=1)), []),
        (make_day("expired"), []),  # something was planned on it: it stays what it is
    ],
)
def test_a_day_offers_the_acts_that_make_sense_on_it(day: Day, offered: list[Act]) -> None:
    assert desk.acts(day) == offered


def test_nothing_is_sent_now_where_nothing_may_be_shown() -> None:
    assert desk.acts(make_day(turn=None)) == [Act.SKIP]
    assert desk.acts(make_missed(turn=None)) == [Act.SKIP]


@pytest.mark.parametrize("state", ["sending", "sent", "unknown"])
def test_another_text_is_not_offered_once_somebody_may_have_the_first(state: str) -> None:
    assert Act.REFREEZE not in desk.acts(make_day("paused", counts={state: 1}))


def test_a_lock_is_lifted_before_anything_is_sent() -> None:
    unplanned, paused = make_day(lock=LOCK), make_day("paused", lock=LOCK, counts={"unknown": 1})

    assert desk.acts(unplanned) == [Act.UNLOCK, Act.SKIP]
    assert desk.acts(paused) == [Act.UNLOCK, Act.CANCEL]
    assert desk.acts_on_unknown(paused) == [Act.ARRIVED]


def test_beside_another_installation_nothing_new_is_begun() -> None:
    assert desk.acts(make_day(conflict=CONFLICT)) == [Act.SKIP]


@pytest.mark.parametrize("lock", [SendingLock(), LOCK])
def test_a_day_that_is_over_sends_nothing_more(lock: SendingLock) -> None:
    assert desk.acts(make_missed(at=MIDNIGHT, lock=lock)) == []
    assert desk.acts_on_unknown(make_day("finished", at=MIDNIGHT, lock=lock, counts={"unknown": 1})) == [Act.ARRIVED]


@pytest.mark.parametrize(
    ("status", "offered"),
    [
        ("sending", [Act.ARRIVED, Act.SEND_AGAIN]),
        ("paused", [Act.ARRIVED, Act.SEND_AGAIN]),
        ("finished", [Act.ARRIVED, Act.SEND_AGAIN]),
        ("cancelled", [Act.ARRIVED]),
        ("expired", [Act.ARRIVED]),
    ],
)
def test_what_is_unknown_may_be_said_to_have_arrived_and_be_sent_again_while_its_day_goes_on(
    status: str, offered: list[Act]
) -> None:
    assert desk.acts_on_unknown(make_day(status, counts={"unknown": 1})) == offered
    assert desk.acts_on_unknown(make_day(status, counts={"sent": 1})) == []


@pytest.mark.parametrize(
    ("day", "says"),
    [
        (make_day(at=local(7)), "Today's begins by itself at 08:00"),
        (make_day(), "Today's hour has come: it begins within a minute"),
        (make_day(at=local(10, 1)), "Today's hour, 08:00, went by, and nothing went out"),
        (make_day(turn=None), "There is nothing to show today"),
        (make_day(lock=LOCK), "Nothing is planned until that is put right"),
        (make_day(conflict=CONFLICT), "Nothing is planned until that is put right"),
        (
            make_day(schedule=DailySchedule(is_enabled=False, effective_from=local(0))),
            "Nothing goes out by itself: the daily schedule is switched off",
        ),
        (
            make_day(schedule=DailySchedule(is_enabled=True, effective_from=local(8, 0, 10))),
            "Today's hour is over; tomorrow's begins by itself at 08:00",
        ),
        (make_day("planned"), "One message goes first; the rest follow when it has arrived"),
        (make_day("sending", of={"first_sent_at": MORNING}, counts={"sent": 2, "pending": 1}), "Going out: 2 of 3"),
        (
            make_day("sending", of={"hold_until": local(8, 1), "reason": reasons.FLOODED, "first_sent_at": MORNING}),
            "On hold until 08:01:00 because: Telegram asks to wait",
        ),
        (
            make_day("sending", of={"hold_until": local(8), "reason": reasons.FLOODED, "first_sent_at": MORNING}),
            "One message goes first; the rest follow when it has arrived",
        ),
        (make_day("paused", of={"reason": "quiet hour"}), "Paused because: quiet hour"),
        (make_day("finished", counts={"sent": 5, "unknown": 1}), "It went out: 5 got it, done at 08:00"),
        (make_day("finished", counts={"skipped": 5, "unknown": 1}), "Nobody is known to have got it"),
        (make_day("skipped", of={"reason": "День жалоби"}), "Skipped: День жалоби"),
        (make_day("cancelled"), "Cancelled for good; what was sent stays sent"),
        (make_missed(), "Nothing went out: its hour went by"),
        (make_missed(reasons.SENT_ELSEWHERE), "Another copy of this database began today's"),
        (make_day("expired", of={"reason": reasons.DAY_IS_OVER}), "It ended: its day is over"),
    ],
)
def test_a_day_is_told_in_one_line(day: Day, says: str) -> None:
    assert telling.tell(day).headline == says


def test_with_the_schedule_switched_off_nothing_is_promised() -> None:
    off = DailySchedule(is_enabled=False, effective_from=local(0))

    told = telling.tell(make_day(schedule=off, turn=None))

    assert told.headline == "Nothing goes out by itself: the daily schedule is switched off"
    assert told.advice == "There is nothing to show either: approve a fundraiser first."
    assert telling.tell(make_day(schedule=off)).advice == ""


@pytest.mark.parametrize(
    ("day", "says"),
    [
        (make_day("skipped", at=local(7)), "If its hour is still to come, it goes out at that hour."),
        (make_day("skipped"), "Today's hour has come: it begins within a minute"),
        (make_day("skipped", of={"reason": f"{reasons.SENT_ELSEWHERE}: so"}), "People may have it already. Skip today"),
    ],
)
def test_whoever_takes_a_skip_back_is_told_what_goes_out_by_it(day: Day, says: str) -> None:
    (asked,) = acting.ask(Act.UNSKIP, day)

    assert asked.startswith(says)


@pytest.mark.parametrize("reason", sorted(STOPS))
def test_every_pause_says_what_to_do_while_its_day_goes_on(reason: str) -> None:
    paused = make_day("paused", of={"reason": f"{reason}: as Telegram said"})

    assert telling.tell(paused).advice
    assert telling.tell(paused).tone == telling.Tone.ASKS


@pytest.mark.parametrize("reason", sorted(HOLDS))
def test_every_hold_says_that_there_is_nothing_to_do(reason: str) -> None:
    held = make_day("sending", of={"reason": reason, "hold_until": MORNING + timedelta(minutes=1)})

    assert telling.tell(held).advice.startswith("There is nothing to do")


@pytest.mark.parametrize("reason", sorted(DID_NOT_GO))
def test_a_day_on_which_nothing_went_out_asks_what_to_do_until_it_is_over(reason: str) -> None:
    assert telling.tell(make_missed(reason)).advice
    assert telling.tell(make_missed(reason, at=MIDNIGHT)).advice == ""
