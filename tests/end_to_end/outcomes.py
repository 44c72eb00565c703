"""The rows of the table of outcomes, to be laid on chats: what Telegram does, and what is told of it then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from delivery.models import Delivery
from posts import clock
from subscribers.models import Subscriber
from tests.end_to_end.installation import Installation
from tests.end_to_end.judging import latest_ids, posts_of
from tests.factories import LONG_AGO

Json = dict[str, Any]
Status = Delivery.Status
NO_RIGHT = {"status": 400, "description": "Bad Request: not enough rights to send photos to the chat"}


def change(**facts: Any) -> Callable[[Installation, int], None]:
    return lambda installation, chat: installation.sandbox.post("/control/chats", [{"chat_id": chat, **facts}])


def act(name: str) -> Callable[[Installation, int], None]:
    return lambda installation, chat: installation.sandbox.post(f"/control/{name}", {"chat_id": chat})


def upgrade_to_a_subscriber(installation: Installation, chat: int) -> None:
    new = installation.sandbox.post("/control/upgrade", {"chat_id": chat})["chat_id"]
    Subscriber.objects.create(chat_id=new, joined_at=LONG_AGO)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Telegram does with a chat's post, and what our row and the ledger then say."""

    name: str
    status: Status
    reason: str = ""  # of the row, where it is skipped
    is_posted: bool = False
    left_reason: str = ""  # of the subscriber
    fault: Any = None  # of the chat's first call
    times: int = 1
    arrange: Callable[[Installation, int], None] | None = None
    is_group: bool = False
    rows: list[Status] = field(default_factory=list)  # of the chat's latest id, where it has several


OUTCOMES = [
    Outcome("late answer", Status.SENT, is_posted=True, fault={"delay": 2}),
    Outcome("closed after acceptance", Status.UNKNOWN, is_posted=True, fault="drop_after"),
    Outcome("reset after acceptance", Status.UNKNOWN, is_posted=True, fault="reset_after"),
    Outcome("closed before acceptance", Status.UNKNOWN, fault="drop"),
    Outcome("reset before acceptance", Status.UNKNOWN, fault="reset"),
    Outcome("hang", Status.UNKNOWN, fault={"hang": 2}),
    Outcome("internal error", Status.UNKNOWN, fault={"status": 500}),
    Outcome("bad gateway", Status.UNKNOWN, fault={"status": 502, "body": "<html>Bad Gateway</html>"}),
    Outcome("empty answer", Status.UNKNOWN, fault={"status": 200, "body": ""}),
    Outcome("flood for all", Status.SENT, is_posted=True, fault={"status": 429, "retry_after": 1}),
    Outcome("flood of a group", Status.SENT, is_posted=True, fault={"status": 429, "retry_after": 1}, is_group=True),
    Outcome("blocked", Status.SKIPPED, "blocked", left_reason="blocked", arrange=change(state="blocked")),
    Outcome(
        "deactivated", Status.SKIPPED, "deactivated", left_reason="deactivated", arrange=change(state="deactivated")
    ),
    Outcome("chat not found", Status.SKIPPED, "unreachable", left_reason="unreachable", arrange=change(state="absent")),
    Outcome("never started", Status.SKIPPED, "not started", arrange=change(state="new")),
    Outcome("removed", Status.SKIPPED, "blocked", left_reason="blocked", arrange=act("block"), is_group=True),
    Outcome("upgraded", Status.SENT, is_posted=True, arrange=act("upgrade"), is_group=True),
    Outcome(
        "upgraded to a subscriber",
        Status.SENT,
        is_posted=True,
        arrange=upgrade_to_a_subscriber,
        is_group=True,
        rows=[Status.SENT, Status.SKIPPED],
    ),
    Outcome("other refusal", Status.FAILED, fault=NO_RIGHT, times=0),
]


def add_groups(installation: Installation, count: int, *, first: int) -> list[int]:
    groups = list(range(first, first - count, -1))
    installation.sandbox.post("/control/chats", [{"chat_id": group, "type": "group"} for group in groups])
    Subscriber.objects.bulk_create(Subscriber(chat_id=group, joined_at=LONG_AGO) for group in groups)
    return groups


def faults_of(fates: dict[int, Outcome]) -> list[Json]:
    return [
        {"fault": outcome.fault, "times": outcome.times, "chat_id": chat, "method": "sendPhoto"}
        for chat, outcome in fates.items()
        if outcome.fault
    ]


def arrange(installation: Installation, fates: dict[int, Outcome]) -> None:
    installation.sandbox.post("/control/faults", faults_of(fates))
    for chat, outcome in fates.items():
        if outcome.arrange:
            outcome.arrange(installation, chat)


def posted_to(installation: Installation) -> set[int]:
    """Who got today's post, by their latest ids."""
    return {post.chat_id for post in posts_of(installation, latest_ids(installation))}


def differences(installation: Installation, fates: dict[int, Outcome]) -> list[str]:
    """Where today's rows, the subscribers or the ledger tell something else of a chat than its outcome says."""
    latest = latest_ids(installation)
    posted = posted_to(installation)
    rows: dict[int, list[tuple[str, str]]] = {}
    todays = Delivery.objects.filter(broadcast__date=clock.local_date(clock.now()))
    for chat, status, reason in todays.values_list("subscriber__chat_id", "status", "reason"):
        rows.setdefault(latest[chat], []).append((status, reason))
    gone = dict(Subscriber.objects.values_list("chat_id", "left_reason"))
    wrong = []
    for chat, outcome in fates.items():
        now = latest[chat]
        statuses = sorted(status for status, _ in rows[now])
        expected = sorted(outcome.rows or [outcome.status])
        if statuses != expected or (now in posted) != outcome.is_posted:
            wrong.append(f"{outcome.name}: {rows[now]}, {'posted' if now in posted else 'not posted'}")
        if outcome.reason and rows[now] != [(outcome.status, outcome.reason)]:
            wrong.append(f"{outcome.name}: {rows[now]}")
        if gone[now] != outcome.left_reason:
            wrong.append(f"{outcome.name}: left as {gone[now]!r}")
    return wrong
