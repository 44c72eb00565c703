"""What an update says: read from Telegram's JSON, where any part may be missing."""

from dataclasses import dataclass
from typing import Any, TypeGuard

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever writes to us in a private chat; of a group only the id, where it is answered."""

    chat_id: int
    username: str = ""
    first_name: str = ""
    language: str = ""  # as their Telegram is set: an IETF tag

    @property
    def names(self) -> dict[str, str]:
        return {"username": self.username, "first_name": self.first_name, "language": self.language}

    @property
    def label(self) -> str:
        """How other people tell them apart."""
        return " ".join(filter(None, [self.first_name, self.username and f"@{self.username}"]))


@dataclass(frozen=True, slots=True)
class PersonEvent:
    person: Person

    @property
    def chat_id(self) -> int:
        return self.person.chat_id


@dataclass(frozen=True, slots=True)
class Said(PersonEvent):
    text: str  # empty for whatever has none: a picture, a sticker

    @property
    def command(self) -> str:
        """`/start` of "/start@our_bot anything"; empty where it is none."""
        return _command(self.text)

    @property
    def payload(self) -> str:
        """What stands behind the command: a link t.me/our_bot?start=PAYLOAD is sent as "/start PAYLOAD"."""
        return _payload(self.text)


@dataclass(frozen=True, slots=True)
class Pressed(PersonEvent):
    query_id: str
    button: str


@dataclass(frozen=True, slots=True)
class Blocked(PersonEvent):
    pass


@dataclass(frozen=True, slots=True)
class Unblocked(PersonEvent):
    pass


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """Something about the bot in a group; talk there is not answered."""

    chat_id: int


@dataclass(frozen=True, slots=True)
class Removed(GroupEvent):
    """The bot was removed from a group, or left it."""


@dataclass(frozen=True, slots=True)
class Added(GroupEvent):
    """The bot is in a group in which it was not."""


@dataclass(frozen=True, slots=True)
class LinkOpened(GroupEvent):
    """Somebody brought the bot into a group by a link t.me/our_bot?startgroup=PAYLOAD, or sent what it sends."""

    title: str
    payload: str


@dataclass(frozen=True, slots=True)
class Upgraded(GroupEvent):
    """The group became a supergroup with another id; `chat_id` is the old one, so that all that happened is in order.

    Telegram says so in two messages, one in each chat (tdlib/telegram-bot-api#170), `migrate_to_chat_id` first; now and
    then only one of them comes (php-telegram-bot/core#120). It also says that the bot joined the supergroup, and not
    that it left the group, until the supergroup is deleted: then it left both (tdlib/telegram-bot-api#266).
    """

    to: int


Event = PersonEvent | GroupEvent


def read(update: Payload) -> Event | None:
    """None for whatever is not ours to answer: channels, talk in groups, unknown kinds. It never raises."""
    match update:
        case {"message": {"chat": {"type": "private", "id": chat_id}, **message}} if _is_id(chat_id):
            return Said(_person(chat_id, message.get("from")), _text(message.get("text")))
        case {"message": {"chat": {"id": old}, "migrate_to_chat_id": new}} if _are_groups(old, new):
            return Upgraded(old, new)
        case {"message": {"chat": {"id": new}, "migrate_from_chat_id": old}} if _are_groups(old, new):
            return Upgraded(old, new)
        case {"message": {"chat": {"id": chat_id, **chat}, "text": str(text)}} if _is_group_link(chat_id, text):
            return LinkOpened(chat_id, _text(chat.get("title")), _payload(text))
        case {"callback_query": {"id": str(query_id), "from": {"id": chat_id} as sender, **query}} if _is_id(chat_id):
            return Pressed(_person(chat_id, sender), query_id, _text(query.get("data")))
        case {
            "my_chat_member": {"chat": {"id": chat_id, "type": kind}, "new_chat_member": {"status": status}, **change}
        } if _is_id(chat_id):
            return _membership(chat_id, kind, status, change.get("from"))
        case _:
            return None


def _membership(chat_id: int, kind: object, status: object, sender: object) -> Event | None:
    match kind, status:
        case "private", "kicked":
            return Blocked(_person(chat_id, sender))
        case "private", "member":
            return Unblocked(_person(chat_id, sender))
        case "group" | "supergroup", "kicked" | "left":
            return Removed(chat_id)
        case "group" | "supergroup", "member" | "administrator":
            return Added(chat_id)
        case _:
            return None


def _is_group_link(chat_id: object, text: str) -> bool:
    return _are_groups(chat_id) and _command(text) == "/start" and bool(_payload(text))


def _command(text: str) -> str:
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return word.partition("@")[0].lower() if word.startswith("/") else ""


def _payload(text: str) -> str:
    return "".join(text.split(maxsplit=1)[1:]).strip()


def _is_id(value: object) -> TypeGuard[int]:
    """Not a bool: Python takes True for chat 1."""
    return type(value) is int


def _are_groups(*ids: object) -> bool:
    return all(_is_id(value) and value < 0 for value in ids)


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
