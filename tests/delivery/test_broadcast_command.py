"""`manage.py broadcast`: what each subcommand does, says, and ends with."""

import io
import json
from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from delivery import locks, reasons
from delivery.books import books_of
from delivery.models import Broadcast, Change, SendingLock
from posts.models import Fundraiser
from tests.delivery.morning import DAY, MORNING, local
from tests.factories import make_broadcast, make_delivery, make_fundraiser, make_schedule, make_subscriber

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _this_morning(set_clock: Callable[[datetime], None]) -> None:
    set_clock(MORNING)


def broadcast(*arguments: str) -> str:
    out = io.StringIO()
    call_command("broadcast", *arguments, stdout=out)
    return out.getvalue()


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        broadcast(*arguments)
    assert refused.value.returncode == 1
    return str(refused.value)


# start


def test_start_plans_todays_broadcast_and_says_what_goes_to_how_many() -> None:
    make_schedule()
    make_fundraiser(title="Дрон")
    make_subscriber()
    make_subscriber()

    said = broadcast("start")

    assert said == "Planned for 2026-03-29: «Дрон» to 2 recipients.\n"
    assert Broadcast.objects.get().deliveries.count() == 2


def test_start_takes_the_fundraiser_that_is_named() -> None:
    make_schedule()
    make_fundraiser(priority=5)
    named = make_fundraiser(title="Названий")

    broadcast("start", "--fundraiser", str(named.pk))

    assert Broadcast.objects.get().fundraiser == named


def test_start_before_the_hour_waits_and_start_now_does_not(set_clock: Callable[[datetime], None]) -> None:
    set_clock(local(7))
    make_schedule()
    make_fundraiser()

    assert refusal("start") == "today's hour, 08:00, has not come; «send now» (--now) does not wait for it"
    assert "Planned for 2026-03-29" in broadcast("start", "--now")


def test_start_is_refused_where_the_day_has_its_broadcast() -> None:
    make_schedule()
    make_broadcast(date=DAY)

    assert refusal("start", "--now") == "the broadcast of 2026-03-29 exists already: planned"


def test_start_is_refused_where_nothing_may_be_shown() -> None:
    make_schedule()

    assert refusal("start") == "no approved fundraiser may be shown on 2026-03-29"


def test_start_is_refused_for_a_fundraiser_that_nobody_approved() -> None:
    make_schedule()
    draft = make_fundraiser(status=Fundraiser.Status.DRAFT)

    words = refusal("start", "--now", "--fundraiser", str(draft.pk))

    assert words == f"fundraiser {draft.pk} is not approved: draft"


# pause, resume, cancel


def test_pause_resume_and_cancel_say_what_happens_now() -> None:
    todays = make_broadcast(date=DAY, status="sending")
    states = []

    said = []
    for act in ("pause", "resume", "cancel"):
        said.append(broadcast(act))
        todays.refresh_from_db()
        states.append(todays.status)

    assert states == ["paused", "sending", "cancelled"]
    assert said == [
        "Paused: nobody is written to until you resume it.\n",
        "Resumed: first one message, then the rest, until midnight at the latest.\n",
        "Cancelled for good. What was sent stays sent.\n",
    ]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("pause", "only a running broadcast can be paused; this one is finished"),
        ("resume", "only a paused broadcast can be resumed; this one is finished"),
        ("cancel", "this broadcast is finished already"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(act: str, words: str) -> None:
    make_broadcast(date=DAY, status="finished", finished_at=MORNING)

    assert refusal(act) == words


@pytest.mark.parametrize("act", ["pause", "resume", "cancel"])
def test_without_a_broadcast_today_nothing_can_be_done(act: str) -> None:
    make_broadcast(date=DAY - timedelta(days=1), status="sending")

    assert refusal(act) == "no broadcast on 2026-03-29"


# refreeze, unlock


def test_refreeze_takes_the_mended_text() -> None:
    mended = make_fundraiser(title="Нова назва")
    todays = make_broadcast(date=DAY, status="paused", reason="so", fundraiser=mended, text="Стара назва")

    said = broadcast("refreeze")

    todays.refresh_from_db()
    assert said == "It has the fundraiser's text of now. Resume sends it.\n"
    assert "Нова назва" in todays.text


def test_unlock_takes_a_persons_word() -> None:
    locks.look(at=MORNING)
    SendingLock.objects.update(reason=reasons.COPY, locked_at=MORNING)

    said = broadcast("unlock")

    assert said == "Unlocked. Nothing was sent by this: what ran is paused.\n"
    assert not SendingLock.load().is_locked
    assert list(Change.objects.values_list("what", "by")) == [("unlocked", "command line")]


# skip


def test_skip_takes_a_date() -> None:
    said = broadcast("skip", "--date", "2026-04-12", "--reason", "Великдень")

    assert said == "Nothing goes out on this day.\n"
    row = Broadcast.objects.get()
    assert (row.date, row.status, row.reason) == (date(2026, 4, 12), "skipped", "Великдень")


def test_unskip_gives_a_date_back() -> None:
    broadcast("skip", "--date", "2026-04-12", "--reason", "Великдень")

    said = broadcast("unskip", "--date", "2026-04-12")

    assert said == "The day is given back. If its hour is over, «Send now» sends.\n"
    assert not Broadcast.objects.exists()


@pytest.mark.parametrize(
    ("day", "reason", "words"),
    [
        ("2026-03-28", "so", "2026-03-28 is past"),
        ("2026-03-29", " ", "say why: the reason is what the others will read"),
        ("2026-03-30", "so", "the broadcast of 2026-03-30 is planned already"),
    ],
)
def test_a_skip_that_is_refused_says_why(day: str, reason: str, words: str) -> None:
    make_broadcast(date=date(2026, 3, 30))

    assert refusal("skip", "--date", day, "--reason", reason) == words


@pytest.mark.parametrize("act", [("skip", "--reason", "so"), ("status",)])
def test_a_date_in_another_form_is_refused_with_an_example(act: tuple[str, ...]) -> None:
    assert "'12.04.2026' is not a date such as 2026-11-30" in refusal(*act, "--date", "12.04.2026")


def test_skip_asks_for_a_date_and_a_reason() -> None:
    assert "--date, --reason" in refusal("skip")


# status


def test_status_shows_todays_books() -> None:
    make_delivery(make_broadcast(date=DAY, status="sending"), status="sent", message_id="77")

    said = broadcast("status")

    assert said.startswith("Broadcast of 2026-03-29: sending\n")
    assert "\x1b" not in said  # no colours where nobody sees them


def test_status_for_programs_is_the_books_as_json_and_nothing_else() -> None:
    make_delivery(make_broadcast(date=DAY))

    assert json.loads(broadcast("status", "--json")) == books_of(DAY)


def test_status_shows_another_day() -> None:
    make_broadcast(date=date(2026, 3, 1))

    assert json.loads(broadcast("status", "--json", "--date", "2026-03-01"))["date"] == "2026-03-01"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_status_of_a_day_without_a_broadcast_ends_with_1(form: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()

    with pytest.raises(SystemExit) as end:
        call_command("broadcast", "status", *form, stdout=out, stderr=err)

    assert end.value.code == 1
    assert (out.getvalue(), err.getvalue()) == ("", "No broadcast on 2026-03-29.\n")
