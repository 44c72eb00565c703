"""The judge finds each broken promise, and lets a good day pass."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.chaos.drawing import draw_day
from tests.chaos.journal import Json, Story
from tests.chaos.machine_clock import MachineClock
from tests.chaos.promises import Case, Facts, Row, broken_promises

OLA, TARAS, GROUP = 1001, 1002, -4001
HOUR, QUIET, MIDNIGHT = 8 * 3600.0, 22 * 3600.0, 24 * 3600.0


def post(chat: int, *, at: float = HOUR + 1, message_id: int = 0, html: str = "Збір") -> Json:
    keyboard = {"inline_keyboard": [[{"text": "Підтримати", "url": "https://send.monobank.ua/jar/1"}]]}
    return reply(chat, at=at, html=html, keyboard=keyboard, message_id=message_id or abs(chat))


def reply(chat: int, *, at: float, html: str = "", keyboard: Json | None = None, message_id: int = 9) -> Json:
    call = {"event": "call", "method": "sendMessage", "chat_id": chat, "message_id": message_id, "at": at}
    return call | {"html": html, "reply_markup": keyboard}


def goodbye(chat: int, *, at: float) -> Json:
    keyboard = {"inline_keyboard": [[{"text": "Повернутися", "callback_data": "start"}]]}
    return reply(chat, at=at, keyboard=keyboard)


def said(chat: int, text: str) -> Json:
    return {"event": "said", "message": {"chat_id": chat, "bot_id": None, "text": text}}


def chat(chat_id: int, state: str = "open", moved_to: int | None = None) -> Json:
    return {"event": "chat", "chat": {"chat_id": chat_id, "state": state, "migrated_to": moved_to}}


def told(*chats: Json) -> Story:
    story = Story()
    for event in chats:
        story.of(event["chat"]["chat_id"]).wants = True
        story.take(event)
    return story


def a_day(*events: Json, rows: list[Row] | None = None, status: str = "finished", reason: str = "") -> Case:
    """Two subscribers, both of them served where nothing else is said."""
    served = rows or [Row(OLA, "sent", "", str(OLA)), Row(TARAS, "sent", "", str(TARAS))]
    counts = {kind: sum(row.status == kind for row in served) for kind in {row.status for row in served}}
    books = {"status": status, "reason": reason, "recipients": len(served), "counts": counts}
    facts = Facts(date(2027, 1, 1), HOUR, HOUR + 7500, quiet=QUIET, midnight=MIDNIGHT, ends=QUIET, seen_at=HOUR + 60)
    return Case(facts, told(chat(OLA), chat(TARAS)), events, served, books, real=lambda shown: shown)


def sentences(case: Case) -> str:
    return "; ".join(broken.sentence for broken in broken_promises(case))


def test_a_good_day_breaks_nothing() -> None:
    assert sentences(a_day(post(OLA), post(TARAS))) == ""


@pytest.mark.parametrize(
    ("events", "finding"),
    [
        ([post(OLA), post(TARAS), post(OLA, message_id=7)], "twice"),
        ([post(OLA), post(TARAS, html="Інший збір")], "2 different messages"),
        ([post(OLA)], "forgotten"),
        ([post(OLA), post(TARAS), chat(1003, "new"), said(1003, "/start"), chat(1003)], "forgotten"),
        ([post(OLA), post(TARAS), post(1003)], "left before the morning"),
        (
            [post(OLA), said(TARAS, "/stop"), goodbye(TARAS, at=HOUR), post(TARAS, at=HOUR + 3)],
            "3.0 s after their /stop",
        ),
        ([post(OLA, at=HOUR - 1), post(TARAS)], "before its hour"),
        ([post(OLA, at=HOUR + 7501), post(TARAS, at=HOUR + 7502)], "after its latest start"),
        ([post(OLA), post(TARAS, at=QUIET + 3)], "in the night"),
        ([post(OLA), post(TARAS), post(GROUP)], "neither sent nor unknown"),
        ([post(OLA), post(TARAS, message_id=8)], "no such message"),
    ],
)
def test_the_ledger_shows_a_broken_promise(events: list[Json], finding: str) -> None:
    assert finding in sentences(a_day(*events))


def test_a_stop_and_a_start_are_no_goodbye() -> None:
    events = [said(TARAS, "/stop"), goodbye(TARAS, at=HOUR), said(TARAS, "/start"), post(TARAS, at=HOUR + 9)]

    assert sentences(a_day(post(OLA), *events)) == ""


def test_a_group_that_became_a_supergroup_is_one_recipient() -> None:
    rows = [Row(OLA, "sent", "", str(OLA)), Row(-100, "sent", "", "4001")]
    case = a_day(post(OLA), post(GROUP), chat(-100), chat(GROUP, moved_to=-100), rows=rows)
    case.before = told(chat(OLA), chat(GROUP))

    assert sentences(case) == ""
    case.events = [*case.events, post(-100)]
    del case.posts
    assert "twice" in sentences(case)


def test_unknown_excuses_only_as_many_as_the_faults_explain() -> None:
    case = a_day(post(OLA), rows=[Row(OLA, "sent", "", str(OLA)), Row(TARAS, "unknown", "no answer", "")])

    assert sentences(case) == "1 are unknown; the faults explain at most 0"
    case.facts.unknown_most = 1
    assert sentences(case) == ""


def test_a_failed_row_needs_a_refusal() -> None:
    case = a_day(post(OLA), rows=[Row(OLA, "sent", "", str(OLA)), Row(TARAS, "failed", "no rights", "")])

    assert "refused no such chat" in sentences(case)
    case.facts.may_be_refused.add(TARAS)
    assert sentences(case) == ""


@pytest.mark.parametrize(
    ("status", "reason", "finding"),
    [
        ("paused", "quiet hour", "nothing in the plan stopped it"),
        ("expired", "", "without a reason"),
        ("sending", "", "did not come to its end"),
    ],
)
def test_a_broadcast_that_stops_needs_a_cause_and_says_it(status: str, reason: str, finding: str) -> None:
    assert finding in sentences(a_day(post(OLA), post(TARAS), status=status, reason=reason))


def test_who_is_not_served_is_excused_by_a_stop_that_the_plan_knows() -> None:
    rows = [Row(OLA, "sent", "", str(OLA)), Row(TARAS, "skipped", "cancelled", "")]
    case = a_day(post(OLA), rows=rows, status="cancelled", reason="cancelled by hand")
    case.facts.may_end_early = True

    assert sentences(case) == ""


def test_books_that_do_not_balance_are_found() -> None:
    case = a_day(post(OLA), post(TARAS))
    assert case.books is not None

    case.books["recipients"] = 3

    assert "do not balance" in sentences(case)


def test_a_restored_backup_has_to_be_silent() -> None:
    case = a_day(post(OLA), post(TARAS, at=HOUR + 9))

    case.facts.silent_from = HOUR + 5

    assert "restored backup" in sentences(case)


def test_a_call_that_began_in_time_may_be_accepted_a_little_later() -> None:
    case = a_day(post(OLA), post(TARAS, at=QUIET + 3))

    case.facts.patience = 4.0

    assert sentences(case) == ""


def test_the_clock_tells_when_it_jumped_over_a_moment(tmp_path: Path) -> None:
    clock = MachineClock(tmp_path, starts=1000.0)
    jumped_at = clock.real(clock.now())

    clock.move(600)

    assert clock.real(1300.0) == pytest.approx(jumped_at, abs=0.5)
    assert clock.real(clock.now() + 5) == pytest.approx(jumped_at + 5, abs=0.5)


def test_a_seed_draws_the_same_day_again_and_another_one_another() -> None:
    assert draw_day(7, 3) == draw_day(7, 3)
    assert len({str(replace(draw_day(seed, 3), seed=0)) for seed in range(20)}) == 20
