"""What the admin's phone shows of /status in the sandbox, written and read as by Telegram's own interface."""

import json
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from donate1024.sandbox import TOKEN
from tests.sandbox_process import SandboxProcess

ADMIN, SECOND_ADMIN = 77, 78


def open_chat(telegram: SandboxProcess, chat_id: int = ADMIN, **facts: Any) -> None:
    """A chat in which the bot keeps no commands yet."""
    telegram.post("/control/chats", [{"chat_id": chat_id, "state": "open"} | facts])
    if facts.get("state", "open") == "open":
        _call(telegram, "deleteMyCommands", chat_id)


def written_in(telegram: SandboxProcess, chat_id: int = ADMIN) -> str:
    """The description of /status there; empty where there is none."""
    commands = _call(telegram, "getMyCommands", chat_id)
    return next((command["description"] for command in commands if command["command"] == "status"), "")


def number_of(written: str) -> int:
    return int(written.split(" · ")[1])


def write(telegram: SandboxProcess, description: str, chat_id: int = ADMIN) -> None:
    commands = [{"command": "status", "description": description}]
    _call(telegram, "setMyCommands", chat_id, commands=json.dumps(commands))


def _call(telegram: SandboxProcess, method: str, chat_id: int, **fields: str) -> Any:
    scope = json.dumps({"type": "chat", "chat_id": chat_id})
    body = urlencode({"scope": scope} | fields).encode()
    with urlopen(f"{telegram.url}/bot{TOKEN}/{method}", body, timeout=30) as answer:  # noqa: S310 -- ours
        return json.load(answer)["result"]
