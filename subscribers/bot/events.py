"""What an update says: read from Telegram's JSON, where any part may be missing."""

from dataclasses import dataclass
from typing import Any

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever writes to us in a private chat."""

    chat_id: int
    username: str = ""
    first_name: str = ""
    language: str = ""  # as their Telegram is set: an IETF tag

    @property
    def names(self) -> dict[str, str]:
        return {"username": self.username, "first_name": self.first_name, "language": self.language}


@dataclass(frozen=True, slots=True)
class Said:
    person: Person
    text: str  # empty for whatever has none: a picture, a sticker

    @property
    def command(self) -> str:
        """`/start` of "/start@our_bot anything"; empty where it is none."""
        word = self.text.split(maxsplit=1)[0] if self.text.strip() else ""
        return word.partition("@")[0].lower() if word.startswith("/") else ""


@dataclass(frozen=True, slots=True)
class Pressed:
    person: Person
    query_id: str
    button: str


@dataclass(frozen=True, slots=True)
class Blocked:
    person: Person


@dataclass(frozen=True, slots=True)
class Unblocked:
    person: Person


Event = Said | Pressed | Blocked | Unblocked


def read(update: Payload) -> Event | None:
    """None for whatever is not ours to answer: groups, channels, kinds that we did not ask for. It never raises."""
    match update:
        case {"message": {"chat": {"type": "private", "id": int(chat_id)}, **message}}:
            return Said(_person(chat_id, message.get("from")), _text(message.get("text")))
        case {"callback_query": {"id": str(query_id), "from": {"id": int(chat_id)} as sender, **query}}:
            return Pressed(_person(chat_id, sender), query_id, _text(query.get("data")))
        case {
            "my_chat_member": {
                "chat": {"type": "private", "id": int(chat_id)},
                "new_chat_member": {"status": "kicked" | "member" as status},
                **change,
            }
        }:
            person = _person(chat_id, change.get("from"))
            return Blocked(person) if status == "kicked" else Unblocked(person)
        case _:
            return None


def _person(chat_id: int, sender: object) -> Person:
    known = sender if isinstance(sender, dict) else {}
    return Person(
        chat_id,
        username=_text(known.get("username")),
        first_name=_text(known.get("first_name")),
        language=_text(known.get("language_code")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
