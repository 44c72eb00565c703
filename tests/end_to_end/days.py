"""Whole days of an installation: everybody's clock set to a moment, and what the sandbox's ledger tells of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from posts import clock
from tests.end_to_end.installation import Installation, Process

KYIV = ZoneInfo("Europe/Kyiv")


@dataclass(frozen=True)
class Post:
    """One accepted message with a fundraiser."""

    chat_id: int
    at: datetime  # by the sandbox's clock, in Kyiv
    title: str


def moment(day: date, hour: str) -> datetime:
    """When Kyiv's clocks show that hour on that day; in UTC, so that a difference is time that passes."""
    return datetime.combine(day, time.fromisoformat(hour), KYIV).astimezone(UTC)


def go_to(installation: Installation, at: datetime) -> None:
    """Set everybody's clock; it goes on from there."""
    installation.pass_time((at - clock.now()).total_seconds())


def posts(installation: Installation) -> list[Post]:
    return [*_posts(installation)]


def served_on(installation: Installation, day: date) -> dict[int, int]:
    """How many posts each chat got on that day, by the sandbox's own ledger and clock."""
    return dict(Counter(post.chat_id for post in posts(installation) if post.at.date() == day))


def wait_for_morning(installation: Installation, people: Iterable[int], day: date) -> None:
    """Until each of them, and nobody else, has had one post that day."""
    expected = dict.fromkeys(people, 1)
    installation.wait_until(lambda: served_on(installation, day) == expected, seconds=60, what=f"the morning of {day}")


def wait_for_ticks(installation: Installation, worker: Process) -> None:
    """Until plan and sweep have run twice more: the first of them may have read the clock before it was set."""
    ends = [f"Task {name}[" for name in ("delivery.plan_todays_broadcast", "delivery.sweep")]

    def done() -> list[int]:
        lines = [line for line in worker.written().splitlines() if " succeeded in " in line]
        return [sum(end in line for line in lines) for end in ends]

    before = done()
    installation.wait_until(
        lambda: all(now >= then + 2 for now, then in zip(done(), before, strict=True)), what="two ticks"
    )


def _posts(installation: Installation) -> Iterator[Post]:
    for call in installation.sandbox.get("/control/ledger?method=sendPhoto,sendMessage"):
        if call["reply_markup"] and "send.monobank.ua" in str(call["reply_markup"]):  # a post, not a reply
            yield Post(call["chat_id"], datetime.fromtimestamp(call["at"], KYIV), call["text"].partition("\n")[0])
