"""Our rows, held against the ledger of the sandbox, which knows nothing of them."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime

from delivery.books import Books, books_of
from delivery.models import Broadcast, Delivery
from posts import clock
from tests.end_to_end.installation import Installation

Status = Delivery.Status
METHODS = "sendPhoto,sendMessage"
FIELDS = "chat_id,message_id,reply_markup,at"


@dataclass(frozen=True, slots=True)
class Post:
    """One fundraiser's message that Telegram accepted; `chat_id` is the chat's latest id."""

    chat_id: int
    message_id: str


def judge(installation: Installation) -> Books:
    """The books of today's broadcast, if they equal the sandbox's ledger; an AssertionError that lists all, if not.

    It proves, at any moment without a call in flight, whatever state the broadcast is in:

    - no chat has today's post twice, a supergroup and the group that it was counted as one;
    - each row that says `sent` names a message that the ledger has for that chat, and no two rows the same;
    - every post in the ledger has its `sent` row, or an `unknown` row of that chat, which says that it may have come:
      whoever is skipped, failed or pending got nothing;
    - the books balance: each recipient has one row, their states add up, and finished means that none is open.

    It does not know who ought to have been served, nor why a row is `unknown`: the test does.
    """
    day = clock.local_date(clock.now())
    books = books_of(day)
    assert books is not None
    broadcast = Broadcast.objects.get(date=day)
    latest = latest_ids(installation)
    posts = posts_of(installation, latest)
    rows = [
        (latest.get(chat_id, chat_id), status, message_id)
        for chat_id, status, message_id in broadcast.deliveries.to_subscribers().values_list(
            "subscriber__chat_id", "status", "message_id"
        )
    ]
    broken = [*_twice(posts), *_wrong_rows(posts, rows), *_unbalanced(books, rows)]
    assert not broken, "\n".join(broken) + "\n" + installation.written()
    return books


def latest_ids(installation: Installation) -> dict[int, int]:
    """Of each chat of the sandbox, the id under which it can be written to now."""
    moved = {chat["chat_id"]: chat["migrated_to"] for chat in installation.sandbox.get("/control/chats")}
    return {chat_id: moved[chat_id] or chat_id for chat_id in moved}


def posts_of(installation: Installation, latest: dict[int, int]) -> list[Post]:
    """Today's posts, by the sandbox's own ledger; replies have no button to donate."""
    today = clock.local_date(clock.now())
    return [
        Post(latest[call["chat_id"]], str(call["message_id"]))
        for call in installation.sandbox.get(f"/control/ledger?method={METHODS}&fields={FIELDS}")
        if "send.monobank.ua" in str(call["reply_markup"])
        and clock.local_date(datetime.fromtimestamp(call["at"], UTC)) == today
    ]


Rows = list[tuple[int, str, str]]  # the chat's latest id, the status, the message's id


def _twice(posts: list[Post]) -> list[str]:
    counts = Counter(post.chat_id for post in posts)
    return [f"chat {chat_id} got the post {count} times" for chat_id, count in counts.items() if count > 1]


def _wrong_rows(posts: list[Post], rows: Rows) -> list[str]:
    accepted = {(post.chat_id, post.message_id) for post in posts}
    told = Counter((chat_id, message_id) for chat_id, status, message_id in rows if status == Status.SENT)
    statuses: defaultdict[int, list[str]] = defaultdict(list)
    for chat_id, status, _ in rows:
        statuses[chat_id].append(status)
    return [
        *(f"the row of chat {chat_id} says sent, the ledger does not" for chat_id, _ in told.keys() - accepted),
        *(f"two rows name message {message_id}" for (_, message_id), count in told.items() if count > 1),
        *(
            f"chat {chat_id} got a post, and its row says {statuses[chat_id]}"
            for chat_id, _ in accepted - told.keys()
            if Status.UNKNOWN not in statuses[chat_id]
        ),
    ]


def _unbalanced(books: Books, rows: Rows) -> list[str]:
    counts = {status: count for status, count in books["counts"].items() if count}
    broken = []
    if counts != Counter(status for _, status, _ in rows):
        broken.append(f"the books say {counts}, the rows something else")
    if books["recipients"] != sum(counts.values()):
        broken.append(f"{books['recipients']} recipients, and states of {sum(counts.values())}")
    if books["skipped"] and sum(books["skipped"].values()) != books["counts"]["skipped"]:
        broken.append("the reasons of the skipped do not add up")
    if books["status"] == "finished" and {"pending", "sending"} & counts.keys():
        broken.append(f"finished, and {counts}")
    return broken
