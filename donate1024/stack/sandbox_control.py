"""The demo's two wishes to the Telegram sandbox: to know these people, and to say what it accepted."""

import json
from collections import Counter
from http.client import HTTPConnection
from typing import Any

from donate1024.stack.ports import LOOPBACK

TIMEOUT = 30


class SandboxRefused(RuntimeError):
    """The sandbox did not do what it was asked for."""


def add_chats(port: int, chats: list[dict[str, Any]]) -> None:
    _ask(port, "POST", "/control/chats", json.dumps(chats).encode())


def messages_by_chat(port: int) -> Counter[int]:
    """How many messages each chat got, by the sandbox's own ledger."""
    calls = json.loads(_ask(port, "GET", "/control/ledger?method=sendMessage,sendPhoto"))
    return Counter(call["chat_id"] for call in calls)


def _ask(port: int, method: str, path: str, body: bytes | None = None) -> bytes:
    connection = HTTPConnection(LOOPBACK, port, timeout=TIMEOUT)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    if answer.status >= 300:
        raise SandboxRefused(f"{method} {path}: {answer.status} {text.decode(errors='replace')}")
    return text
