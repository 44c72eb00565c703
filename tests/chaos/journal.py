"""What the sandbox wrote down: the only witness of what people got, and of what they did."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Post:
    """A fundraiser that reached a chat: an accepted message with a way to pay under it."""

    at: float  # by the sandbox's clock
    chat_id: int
    message_id: int
    content: str  # all that people see of it, but the picture


@dataclass(slots=True)
class Standing:
    """What one chat wished last, and whether it can be written to."""

    wants: bool = False
    is_open: bool = False
    has_said_stop: bool = False  # and nothing since
    told_goodbye_at: float | None = None  # when that was answered, by the sandbox's clock
    acts: int = 0  # things done so far
    moved_to: int | None = None

    @property
    def is_subscribed(self) -> bool:
        return self.wants and self.is_open


class Story:
    """Everybody's standing, told event by event. Whoever was imported wants the message until they say otherwise."""

    def __init__(self) -> None:
        self.standings: dict[int, Standing] = {}

    def of(self, chat_id: int) -> Standing:
        return self.standings.setdefault(chat_id, Standing())

    def copy(self) -> "Story":
        return deepcopy(self)

    def now_called(self, chat_id: int) -> int:
        """A group's newest number."""
        moved_to = self.of(chat_id).moved_to
        return chat_id if moved_to is None else moved_to

    def take(self, event: Json) -> None:
        match event:
            case {"event": "chat", "chat": chat}:
                self._see(chat)
            case {"event": "said", "message": {"chat_id": chat_id, "bot_id": None, "text": text}}:
                self._hear(self.of(chat_id), text)
            case {"event": "call", "method": "sendMessage", "chat_id": chat_id} if says_goodbye(event):
                standing = self.of(chat_id)
                if standing.has_said_stop and standing.told_goodbye_at is None:
                    standing.told_goodbye_at = event["at"]

    def _see(self, chat: Json) -> None:
        standing, moved_to = self.of(chat["chat_id"]), chat["migrated_to"]
        standing.is_open = chat["state"] == "open" and moved_to is None
        standing.acts += 1
        if moved_to is not None and standing.moved_to is None:
            standing.moved_to = moved_to
            self.of(moved_to).wants |= standing.wants
            self.of(moved_to).acts += 1

    def _hear(self, standing: Standing, text: str) -> None:
        standing.acts += 1
        if text in {"/start", "/stop"}:
            standing.wants = text == "/start"
            standing.has_said_stop, standing.told_goodbye_at = text == "/stop", None


@dataclass
class Journal:
    """The sandbox's file, read as it grows; it can be read while the sandbox is dead, too."""

    path: Path
    newest_update: int = 0
    confirmed: int = 0  # the offset up to which the bot has fetched updates
    _read: int = field(default=0, repr=False)  # bytes

    def news(self) -> Iterator[Json]:
        """The events since the last look."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # still being written, or cut off by a kill: then the sandbox removes it
                self._read += len(line)
                event = json.loads(line)
                self._watch(event)
                yield event

    def has_waiting_updates(self) -> bool:
        """Whether the bot did not fetch yet what somebody did."""
        return self.newest_update >= max(self.confirmed, 1)

    def _watch(self, event: Json) -> None:
        if event["event"] == "update":
            self.newest_update = event["update"]["update_id"]
        elif event["event"] == "confirmed":
            self.confirmed = event["offset"]


def post_of(event: Json) -> Post | None:
    """The event as a post; None for anything else."""
    if event["event"] != "call" or event["method"] not in {"sendMessage", "sendPhoto"}:
        return None
    if not any("url" in button for button in _buttons(event)):
        return None  # a reply or an alert
    content = f"{event['html']} {event['reply_markup']}"
    return Post(event["at"], event["chat_id"], event["message_id"], content)


def says_goodbye(event: Json) -> bool:
    return any(button.get("callback_data") == "start" for button in _buttons(event))


def _buttons(event: Json) -> list[Json]:
    keyboard = event["reply_markup"] or {"inline_keyboard": []}
    return [button for row in keyboard["inline_keyboard"] for button in row]
