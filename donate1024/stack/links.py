"""The one-time links of the first screen: for the terminal alone, they stand in no log."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from donate1024.stack.processes import Command, CommandFailed
from donate1024.stack.state import Place


@dataclass(frozen=True)
class Links:
    chats: Mapping[str, str]  # role -> what makes an admin chat; none where Telegram does not tell of its bot
    password: str  # empty where somebody has one
    no_chats: str = ""  # why there are none
    no_password: str = ""  # why it is not known whether somebody has one

    @property
    def bot(self) -> str:
        """The bot's name, where Telegram told it."""
        link = next(iter(self.chats.values()), "")
        return f"@{link.partition('?')[0].rpartition('/')[2]}" if link.startswith("https://t.me/") else ""


class Asking:
    """The commands that make the links, beside the processes that start: Telegram may take ten seconds."""

    def __init__(self, place: Place) -> None:
        self._chats = Command("link_chat", "--json", place=place)
        self._password = Command("password_link", place=place)

    def answer(self) -> Links:
        """What there is. What is missing is told, and keeps nothing else from running."""
        chats, no_chats = _said(self._chats)
        password, no_password = _said(self._password)
        return Links(json.loads(chats or "{}"), password.strip(), no_chats, no_password)


def _said(command: Command) -> tuple[str, str]:
    """What the command printed, or why it did not."""
    try:
        return command.output(), ""
    except CommandFailed as error:
        return "", str(error).rpartition("CommandError: ")[2]
