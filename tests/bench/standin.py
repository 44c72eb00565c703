"""`python -m tests.bench.standin`: a Bot API as fast as can be, which reads only what it must."""

import asyncio
import json
import re
import sys
from collections import deque
from functools import partial
from time import monotonic, time
from typing import Any
from urllib.parse import parse_qsl

from tests.bench.judge import Judge

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_CHAT = re.compile(rb"chat_id=(-?\d+)")
_TEXT = "Збір на дрони для бригади. " * 12
# As long as what Telegram answers to a post: the library reads all of it.
_MESSAGE = {
    "date": 1790000000,
    "from": {"id": 1, "is_bot": True, "first_name": "donate1024", "username": "donate1024_bot"},
    "text": _TEXT,
    "entities": [{"type": "bold", "offset": 0, "length": 20}],
    "reply_markup": {"inline_keyboard": [[{"text": "Підтримати", "url": "https://send.monobank.ua/jar/SANDBOX1"}]]},
}
_REST = json.dumps(_MESSAGE)[1:]
_FLOOD = {"ok": False, "error_code": 429, "description": "Too Many Requests", "parameters": {"retry_after": 1}}


class Bench:
    """What is set for the run, and what is known of it."""

    def __init__(self) -> None:
        self.latency = 0.0
        self.judge = Judge()
        self.messages = 0
        self.updates: deque[dict[str, Any]] = deque()
        self.pressed_at: dict[int, float] = {}
        self.waits: list[float] = []
        self.next_update = 1

    def set(self, *, latency: float, limit: int) -> None:
        self.latency, self.judge = latency, Judge(limit=limit)
        self.updates.clear()
        self.pressed_at.clear()
        self.waits.clear()

    def press(self, people: int) -> None:
        """So many people, none of them a subscriber yet, press «start» at once."""
        at = monotonic()
        for person in range(900_000_000, 900_000_000 + people):
            who = {"id": person, "is_bot": False, "first_name": "Оля", "language_code": "uk"}
            message = {
                "message_id": 1,
                "date": int(time()),
                "chat": {"id": person, "type": "private", "first_name": "Оля"},
                "from": who,
                "text": "/start",
                "entities": [{"type": "bot_command", "offset": 0, "length": 6}],
            }
            self.updates.append({"update_id": self.next_update, "message": message})
            self.next_update += 1
            self.pressed_at[person] = at

    def message(self, chat_id: int) -> bytes:
        if pressed := self.pressed_at.pop(chat_id, None):
            self.waits.append(monotonic() - pressed + self.latency)
        self.messages += 1
        body = (
            f'{{"ok":true,"result":{{"message_id":{self.messages},"chat":{{"id":{chat_id},"type":"private"}},{_REST}}}'
        )
        return answer(body)


def answer(body: str, *, status: str = "200 OK") -> bytes:
    content = body.encode()
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        status.encode(),
        len(content),
        content,
    )


class Connection(asyncio.Protocol):
    """One kept connection; HTTP without pipelining."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = _LENGTH.search(head)
        if length and len(body) < int(length[1]):
            return
        self._buffer = b""
        self._serve(head.split(b" ", 2)[1].rpartition(b"/")[2].decode(), body)

    def _serve(self, method: str, body: bytes) -> None:
        bench, loop = self._bench, asyncio.get_running_loop()
        if method in {"sendMessage", "sendPhoto"}:
            self._send(body)
        elif method == "getUpdates":
            loop.call_later(0.02, self._hand_out, dict(parse_qsl(body.decode())), monotonic() + 5)
        elif method.startswith("report"):
            self._transport.write(answer(json.dumps({**bench.judge.report(), "waits": bench.waits})))
        elif method.startswith("set"):
            chosen = json.loads(body)
            bench.set(latency=chosen["latency"], limit=chosen["limit"])
            self._transport.write(answer("{}"))
        elif method.startswith("press"):
            bench.press(json.loads(body))
            self._transport.write(answer("{}"))
        else:
            loop.call_later(
                bench.latency, self._transport.write, answer(_OTHER.get(method, '{"ok":true,"result":true}'))
            )

    def _send(self, body: bytes) -> None:
        found = _CHAT.search(body)
        chat_id = int(found[1]) if found else 0
        bench = self._bench
        if not bench.judge.accepts(chat_id):
            self._transport.write(answer(json.dumps(_FLOOD), status="429 Too Many Requests"))
            return
        bench.judge.begin()
        asyncio.get_running_loop().call_later(bench.latency, self._sent, bench.message(chat_id), bench.judge)

    def _sent(self, content: bytes, judge: Judge) -> None:
        judge.end()
        self._transport.write(content)

    def _hand_out(self, asked: dict[str, str], until: float) -> None:
        updates, confirmed = self._bench.updates, int(asked.get("offset", 0))
        while updates and updates[0]["update_id"] < confirmed:
            updates.popleft()
        if updates or monotonic() > until:
            batch = [updates[place] for place in range(min(len(updates), 100))]
            self._transport.write(answer(json.dumps({"ok": True, "result": batch})))
        else:
            asyncio.get_running_loop().call_later(0.02, self._hand_out, asked, until)


_OTHER = {
    "getMe": '{"ok":true,"result":{"id":1,"is_bot":true,"first_name":"donate1024","username":"donate1024_bot"}}',
    "getMyCommands": '{"ok":true,"result":[]}',
    "getWebhookInfo": '{"ok":true,"result":{"url":"","has_custom_certificate":false,"pending_update_count":0}}',
}


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(partial(Connection, Bench()), "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
