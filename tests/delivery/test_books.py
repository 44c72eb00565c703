import io
import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rich.console import Console

from delivery.books import Books, books_of
from delivery.books_on_screen import draw
from delivery.models import Broadcast, Delivery
from tests.delivery.morning import DAY, MORNING, local
from tests.factories import make_broadcast, make_delivery

pytestmark = pytest.mark.django_db


def make_morning() -> Broadcast:
    """A finished broadcast with a row in every state."""
    broadcast = make_broadcast(
        date=DAY, status="finished", planned_at=MORNING, first_sent_at=local(8, 0, 21), finished_at=local(8, 1)
    )
    for status, reason, count in [
        ("pending", "", 1),
        ("sending", "", 2),
        ("sent", "", 5),
        ("skipped", "blocked", 3),
        ("skipped", "left", 1),
        ("failed", "no rights", 1),
        ("failed", "chat restricted", 1),
        ("unknown", "no answer", 2),
    ]:
        facts = {"status": status, "reason": reason, "message_id": "77", "token": uuid4(), "claimed_at": MORNING}
        for _ in range(count):
            make_delivery(broadcast, **facts)
    return broadcast


def books() -> Books:
    found = books_of(DAY)
    assert found
    return found


def test_the_books_have_exactly_the_shape_that_programs_read() -> None:
    broadcast = make_morning()

    assert json.loads(json.dumps(books())) == {
        "date": "2026-03-29",
        "status": "finished",
        "fundraiser": broadcast.fundraiser_id,
        "recipients": 16,
        "counts": {"pending": 1, "sending": 2, "sent": 5, "skipped": 4, "failed": 2, "unknown": 2},
        "skipped": {"blocked": 3, "left": 1},
        "channels": {"bluesky": {"status": "off"}, "telegram_channel": {"status": "off"}},
        "planned_at": "2026-03-29T08:00:20+03:00",
        "first_sent_at": "2026-03-29T08:00:21+03:00",
        "finished_at": "2026-03-29T08:01:00+03:00",
        "hold_until": None,
        "paused_because": "",
        "reason": "",
    }


def test_the_books_balance() -> None:
    make_morning()

    assert sum(books()["counts"].values()) == books()["recipients"]
    assert books()["recipients"] == Delivery.objects.count()
    assert sum(books()["skipped"].values()) == books()["counts"]["skipped"]


def test_the_recipients_are_counted_by_one_statement_whatever_their_number() -> None:
    make_morning()

    with CaptureQueriesContext(connection) as queries:
        books()

    assert len([query for query in queries if "delivery_delivery" in query["sql"]]) == 1


def test_another_days_rows_and_public_channels_are_no_recipients() -> None:
    broadcast = make_broadcast(date=DAY)
    make_delivery(broadcast)
    Delivery.objects.create(broadcast=broadcast)
    make_delivery(make_broadcast(date=DAY + timedelta(days=1)))

    assert books()["recipients"] == 1


@pytest.mark.parametrize(("status", "words"), [("paused", "quiet hour"), ("expired", "")])
def test_the_books_say_why_a_broadcast_is_paused(status: str, words: str) -> None:
    make_broadcast(date=DAY, status=status, reason="quiet hour")

    assert books()["paused_because"] == words


def test_a_skipped_day_has_books_without_recipients() -> None:
    Broadcast.objects.create(date=DAY, status="skipped", reason="День жалоби")

    assert (books()["status"], books()["fundraiser"], books()["recipients"]) == ("skipped", None, 0)
    assert books()["planned_at"] is None


def test_a_day_without_a_broadcast_has_no_books() -> None:
    assert books_of(DAY) is None


# As people read them.


def shown() -> list[str]:
    out = io.StringIO()
    draw(books(), on=Console(file=out, width=100))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def line_of(lines: list[str], state: str) -> str:
    (line,) = [line for line in lines if line.split()[1] == state]
    return line


def test_the_screen_shows_every_state_its_meaning_and_the_sum() -> None:
    make_morning()

    lines = shown()

    assert lines[0] == "Broadcast of 2026-03-29: finished"
    assert line_of(lines, "sent").startswith("5 sent")
    assert line_of(lines, "skipped").endswith("not written to: 3 blocked, 1 left")
    assert line_of(lines, "unknown").endswith("perhaps got it; never sent again by itself")
    assert lines[-1].startswith("16 in all")


def test_the_screen_shows_a_broadcast_to_nobody() -> None:
    make_broadcast(date=DAY)

    assert shown()[-1].startswith("0 in all")


def test_the_screen_says_why_a_broadcast_waits_in_telegrams_own_words() -> None:
    make_broadcast(date=DAY, status="paused", reason="Telegram refused the text: unexpected [/b]", hold_until=local(9))

    first = " ".join(shown()[:2])

    assert first.startswith("Broadcast of 2026-03-29: paused, on hold until 2026-03-29T09:00:00+03:00")
    assert "because: Telegram refused the text: unexpected [/b]" in first
