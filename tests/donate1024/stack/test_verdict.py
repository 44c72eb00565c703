from collections import Counter
from typing import Any

import pytest

from donate1024.stack import population
from donate1024.stack.verdict import faults

REACHABLE = {1, 2}


def books(**changed: Any) -> dict[str, Any]:
    counts = {"pending": 0, "sending": 0, "sent": 2, "skipped": 1, "failed": 0, "unknown": 0}
    return {"status": "finished", "recipients": 3, "counts": counts | changed.pop("counts", {})} | changed


def test_a_morning_as_promised_has_no_faults() -> None:
    assert faults(books=books(), served=Counter([1, 2]), reachable=REACHABLE, recipients=3) == []


@pytest.mark.parametrize(
    ("kept", "served", "fault"),
    [
        (books(), [1, 2, 2], "1 people got more than one message"),
        (books(), [1], "1 people who could be reached got nothing"),
        (books(), [1, 2, 3], "1 others got something"),
        (books(counts={"sent": 1}), [1, 2], "the states add up to 2"),
        (books(counts={"sent": 1, "unknown": 1}), [1, 2], "1 are booked as sent, 2 were accepted"),
        (books(status="paused"), [1, 2], "the broadcast is paused, not finished"),
        (books(recipients=2), [1, 2], "2 recipients instead of 3"),
    ],
)
def test_each_broken_promise_is_named(kept: dict[str, Any], served: list[int], fault: str) -> None:
    assert fault in faults(books=kept, served=Counter(served), reachable=REACHABLE, recipients=3)


def test_the_demo_has_300_people_of_whom_9_have_left() -> None:
    people = population.chats()

    states = Counter(person["state"] for person in people)

    assert states == {"open": 291, "blocked": 6, "deactivated": 2, "absent": 1}
    assert len({person["chat_id"] for person in people}) == 300
