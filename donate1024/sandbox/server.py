"""The Bot API under /bot<token>/<method>: what arrives, the faults asked for, the answer, the log of all calls."""

import asyncio
import inspect
from collections import deque
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from donate1024.sandbox import Json, calls, connections, faults
from donate1024.sandbox.connections import Connections, Cut
from donate1024.sandbox.methods import METHODS
from donate1024.sandbox.refusals import Refused, bad_request
from donate1024.sandbox.world import World

MAX_BODY = 50 * 1024 * 1024  # bytes


class Server:
    """The Bot API for the bots whose tokens it knows, all in one world."""

    def __init__(self, world: World, bots: Mapping[str, int]) -> None:
        self.world = world
        self.bots = bots
        self.faults: list[faults.Fault] = []
        self.connections = Connections()
        self.calls: deque[Json] = deque(maxlen=20_000)
        self.refused = 0

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one call; hanging up neither stops nor undoes it, as at Telegram."""
        entry: Json = {"at": self.world.clock.now(), "method": request.match_info["method"], "chat_id": ""}
        self.calls.append(entry)
        try:
            await self.connections.begin(request)
            answer = await self._answer(request, entry)
        except Refused as refusal:
            self.refused += 1
            entry["description"] = refusal.description
            answer = web.json_response(refusal.body, status=refusal.status)
        except Cut as cut:
            connections.end(request, is_reset=cut.is_reset)
            answer = web.Response(status=499)  # read by the log of calls only
        self.connections.end(request)
        entry["status"] = answer.status
        return answer

    async def _answer(self, request: web.Request, entry: Json) -> web.Response:
        token = request.match_info["token"]
        method = METHODS.get(entry["method"].lower())
        if ":" not in token:
            raise Refused(404, "Not Found")
        if token not in self.bots:
            raise Refused(401, "Unauthorized")
        if method is None:
            raise Refused(404, "Not Found")
        call = await calls.read(request, self.bots[token])
        entry |= {"bot_id": call.bot_id, "method": method.name, "chat_id": call.chat_id}
        entry["fault"] = fault = faults.striking(self.faults, method.name, call.chat_id)
        if isinstance(fault, dict) and "body" in fault:
            return web.Response(status=fault["status"], text=fault["body"])
        await _suffer(fault)
        if unknown := sorted({*call.fields, *call.uploads} - set(method.parameters.split())):
            # Telegram ignores these: here a misspelt parameter is found.
            raise bad_request(f'the sandbox knows no parameter "{unknown[0]}" of {method.name}')
        result: Any = method.answer(self.world, call)
        if inspect.isawaitable(result):
            result = await result
        if isinstance(fault, str) and fault.endswith("_after"):
            raise Cut(is_reset=fault == "reset_after")
        return web.json_response({"ok": True, "result": result})


async def _suffer(fault: Any) -> None:
    match fault:
        case "drop" | "reset":
            raise Cut(is_reset=fault == "reset")
        case {"hang": seconds}:
            await asyncio.sleep(seconds)
            raise Refused(504, "Gateway Timeout")
        case {"delay": seconds}:
            await asyncio.sleep(seconds)
        case {"status": _}:
            raise faults.refusal(fault)
