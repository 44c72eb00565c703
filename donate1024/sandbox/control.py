"""The way in for tests, the demo and the page of phones: JSON under /control/."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from donate1024.sandbox import Json, chats, faults, people, photos
from donate1024.sandbox.chats import Chat
from donate1024.sandbox.connections import Rule
from donate1024.sandbox.messages import as_json
from donate1024.sandbox.server import Server

_SHOWN = 100  # messages on a phone
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def own_pages_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what another site's page sends through somebody's browser; programs name no origin."""
    origin = request.headers.get("Origin", "")
    if origin and urlsplit(origin).netloc != request.host:
        raise web.HTTPForbidden(text="only the sandbox's own page may do this")
    return await handler(request)


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What was asked wrongly is said in the answer: a test must not go on by mistake."""
    try:
        return await handler(request)
    except (ValueError, KeyError, TypeError) as error:
        if not request.path.startswith("/control/"):
            raise
        return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)


class Control:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.world = server.world

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/control/chats", self.set_chats),
            web.get("/control/chats", self.get_chats),
            web.post("/control/{act:say|press|block|unblock|upgrade}", self.act),
            web.post("/control/update", self.put_update),
            web.get("/control/ledger", self.get_ledger),
            web.get("/control/calls", self.get_calls),
            web.post("/control/faults", self.add_faults),
            web.delete("/control/faults", self.clear_faults),
            web.post("/control/rate", self.set_rate),
            web.post("/control/idle-connections", self.set_idle_connections),
            web.get("/control/clock", self.get_clock),
            web.post("/control/next-morning", self.next_morning),
            web.get("/control/phone/{chat_id}", self.get_phone),
            web.get("/control/phones", self.get_phones),
            web.get("/control/file/{file_id}", self.get_file),
        ]

    async def set_chats(self, request: web.Request) -> web.Response:
        """Create chats, or change the given fields of those that exist; all of them or none."""
        given = await request.json()
        changed = [chats.updated(self.world.chats.get(chat["chat_id"]), chat) for chat in given]
        for chat in changed:
            self.world.record("chat", chat=asdict(chat))
        return web.json_response([asdict(chat) for chat in changed])

    async def get_chats(self, request: web.Request) -> web.Response:
        """All chats, or so many people's who were the last to write to a bot, the latest first."""
        found = list(self.world.chats.values())
        if "wrote_last" in request.query:
            last = {chat.chat_id: self._last_written(chat) for chat in found if chat.type == "private"}
            wrote = sorted(filter(last.get, last), key=last.__getitem__, reverse=True)
            found = [self.world.chats[chat_id] for chat_id in wrote[: int(request.query["wrote_last"])]]
        return web.json_response([asdict(chat) for chat in found])

    async def act(self, request: web.Request) -> web.Response:
        """Somebody writes, presses a button, blocks or unblocks the bot, makes a supergroup of a group."""
        given = await request.json()
        chat = self._chat(given["chat_id"])
        bot_id = given.get("bot_id", self._first_bot())
        match request.match_info["act"]:
            case "say":
                return web.json_response({"message_id": people.say(self.world, bot_id, chat, str(given["text"]))})
            case "press":
                query_id = people.press(self.world, chat, given["message_id"], given["data"])
                return web.json_response({"callback_query_id": query_id})
            case "block":
                people.block(self.world, bot_id, chat)
            case "unblock":
                people.unblock(self.world, bot_id, chat)
            case "upgrade":
                chat = people.upgrade(self.world, bot_id, chat)
        return web.json_response(asdict(self._chat(chat.chat_id)))

    async def put_update(self, request: web.Request) -> web.Response:
        """Any update, as it is, with the next `update_id` unless it brings its own: for tests that are not nice."""
        bot_id = self._first_bot()
        update = {"update_id": self.world.queues[bot_id].next_id, **await request.json()}
        self.world.record("update", bot_id=bot_id, update=update)
        return web.json_response({"update_id": update["update_id"]})

    async def get_ledger(self, request: web.Request) -> web.Response:
        """The accepted calls, oldest first; `fields` thins them out for those who read many."""
        methods = set(filter(None, request.query.get("method", "").split(",")))
        chat_id = int(request.query["chat_id"]) if "chat_id" in request.query else None
        fields = set(filter(None, request.query.get("fields", "").split(",")))
        return web.json_response(
            [
                {name: value for name, value in entry.items() if not fields or name in fields}
                for entry in self.world.ledger
                if (not methods or entry["method"] in methods) and chat_id in (None, entry["chat_id"])
            ]
        )

    async def get_calls(self, _: web.Request) -> web.Response:
        """All calls with what came of them, the refused ones too (chat_id as it was sent): the last 20,000."""
        return web.json_response(list(self.server.calls))

    async def add_faults(self, request: web.Request) -> web.Response:
        self.server.faults += [faults.parsed(fault) for fault in await request.json()]
        return web.json_response({"faults": len(self.server.faults)})

    async def clear_faults(self, _: web.Request) -> web.Response:
        self.server.faults.clear()
        return web.json_response({"faults": 0})

    async def set_rate(self, request: web.Request) -> web.Response:
        self.world.flood.per_second = (await request.json())["per_second"]
        return web.json_response({"per_second": self.world.flood.per_second})

    async def set_idle_connections(self, request: web.Request) -> web.Response:
        """What becomes of connections that nobody uses for a while, from the next answer on."""
        self.server.connections.rule = rule = Rule(**await request.json())
        return web.json_response(asdict(rule))

    async def get_clock(self, _: web.Request) -> web.Response:
        return web.json_response({"now": self.world.clock.local().isoformat(), "offset": self.world.clock.offset()})

    async def next_morning(self, _: web.Request) -> web.Response:
        return web.json_response({"now": self.world.clock.jump_to_next_morning().isoformat()})

    async def get_phone(self, request: web.Request) -> web.Response:
        return web.json_response(self._phone(int(request.match_info["chat_id"])))

    async def get_phones(self, request: web.Request) -> web.Response:
        """What the page shows of several chats: nothing (204) while it is what the page has `seen` already."""
        version = f"{self.world.events}.{self.server.refused}.{self.world.clock.offset()}"
        if request.query.get("seen") == version:
            return web.Response(status=204)
        wanted = [int(chat_id) for chat_id in request.query["chat_id"].split(",")]
        return web.json_response(
            {
                "version": version,
                "now": self.world.clock.now(),
                "zone": self.world.clock.zone.key,
                "accepted": self.world.sent,
                "refused": self.server.refused,
                "phones": [self._phone(chat_id) for chat_id in wanted if chat_id in self.world.chats],
            }
        )

    async def get_file(self, request: web.Request) -> web.Response:
        photo = self.world.photos[photos.original(request.match_info["file_id"])]
        content = (self.world.files / photo.digest).read_bytes()
        kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
        return web.Response(body=content, content_type=kind, headers={"Cache-Control": "max-age=86400"})

    def _phone(self, chat_id: int) -> Json:
        messages = list(self.world.messages[chat_id].values())[-_SHOWN:]
        return {
            "chat": asdict(self._chat(chat_id)),
            "messages": [as_json(self.world, message) for message in messages],
            "answer": self.world.answers.get(chat_id),
        }

    def _last_written(self, chat: Chat) -> int:
        written = self.world.messages.get(chat.chat_id, {}).values()
        return max((message.message_id for message in written if message.bot_id is None), default=0)

    def _chat(self, chat_id: Any) -> Chat:
        if chat_id not in self.world.chats:
            raise ValueError(f"there is no chat {chat_id!r}")
        return self.world.chats[chat_id]

    def _first_bot(self) -> int:
        return next(iter(self.server.bots.values()))
