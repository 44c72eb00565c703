"""The people and groups that the bot may write to, and why it sometimes may not."""

from dataclasses import dataclass
from typing import Literal, get_args

from donate1024.sandbox import Json
from donate1024.sandbox.refusals import Refused, bad_request

Kind = Literal["private", "group", "supergroup", "channel"]
# new: never pressed start; absent: Telegram knows no such chat.
State = Literal["open", "blocked", "deactivated", "absent", "new"]
_GONE = {
    "private": "bot was blocked by the user",
    "group": "bot was kicked from the group chat",
    "supergroup": "bot was kicked from the supergroup chat",
    "channel": "bot was kicked from the channel chat",
}


@dataclass(slots=True)
class Chat:
    chat_id: int
    first_name: str = ""
    username: str = ""
    language_code: str = "uk"
    type: Kind = "private"
    state: State = "open"
    migrated_to: int | None = None

    def check_open(self) -> None:
        """Raises Refused, in Telegram's words, where the bot may not write."""
        if self.migrated_to is not None:
            raise Refused(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": self.migrated_to},
            )
        match self.state:
            case "blocked":
                raise Refused(403, f"Forbidden: {_GONE[self.type]}")
            case "deactivated":
                raise Refused(403, "Forbidden: user is deactivated")
            case "new":
                raise Refused(403, "Forbidden: bot can't initiate conversation with a user")
            case "absent":
                raise bad_request("chat not found")

    def as_chat(self) -> Json:
        name = "first_name" if self.type == "private" else "title"
        chat: Json = {"id": self.chat_id, "type": self.type, name: self.first_name or f"Chat {self.chat_id}"}
        return chat | ({"username": self.username} if self.username else {})

    def as_user(self) -> Json:
        """Who writes in this chat: in a group, one member stands for all."""
        user: Json = {"id": abs(self.chat_id), "is_bot": False, "first_name": self.first_name or f"{self.chat_id}"}
        user["language_code"] = self.language_code
        return user | ({"username": self.username} if self.username and self.type == "private" else {})


def updated(chat: Chat | None, given: Json) -> Chat:
    """A chat with the fields given, the rest as before. Raises ValueError naming what is wrong."""
    before = {name: getattr(chat, name) for name in Chat.__slots__} if chat else {}
    if wrong := set(given) - set(Chat.__slots__):
        raise ValueError(f"a chat has no {sorted(wrong)}")
    after = Chat(**before | given)
    if type(after.chat_id) is not int or after.type not in get_args(Kind) or after.state not in get_args(State):
        raise ValueError(f"chat_id is a number, type one of {get_args(Kind)}, state one of {get_args(State)}: {given}")
    return after
