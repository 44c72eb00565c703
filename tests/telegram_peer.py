"""A second stand-in for Telegram, written by others (lo-bot-api-emulator), with faults: it keeps the sandbox honest.

It reads no HTML, checks neither chats nor callback ids, and knows no flood: a test gives it the refusal it wants.
"""

import asyncio
import threading
import time
from collections import defaultdict
from typing import Any, Literal, Self, TypeAlias

from aiohttp import web
from lo_bot_api_emulator import ApiRefusal, LoBotApiEmulator

Fault: TypeAlias = ApiRefusal | Literal["hang", "drop", "drop_after"]

BLOCKED = ApiRefusal("Forbidden: bot was blocked by the user", 403)
DEACTIVATED = ApiRefusal("Forbidden: user is deactivated", 403)
_CUT_AFTER = web.RequestKey("cut_after", bool)
# What Telegram takes and this emulator does not know.
_TELEGRAM_ONLY = ("link_preview_options", "protect_content", "message_thread_id")


def flood(seconds: int) -> ApiRefusal:
    return ApiRefusal(f"Too Many Requests: retry after {seconds}", 429, {"retry_after": seconds})


def migrated(chat_id: int) -> ApiRefusal:
    description = "Bad Request: group chat was upgraded to a supergroup chat"
    return ApiRefusal(description, 400, {"migrate_to_chat_id": chat_id})


class TelegramPeer(LoBotApiEmulator):  # type: ignore[misc] # it ships no types
    """Runs in a thread of this process, on a free port of 127.0.0.1, as a context manager.

    `calls` are the calls as (method, fields, names of uploads), refused ones too; `faults[method, chat_id]` (chat_id
    None: any) are what happens to the next calls, one each.
    """

    def __init__(self) -> None:
        super().__init__(enable_control=True, max_history=10**6, max_updates=10**5)
        self.calls: list[tuple[str, dict[str, str], list[str]]] = []
        self.faults: defaultdict[tuple[str, int | None], list[Fault]] = defaultdict(list)
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(ready),), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise TimeoutError("the emulator did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)
        self._loop.close()

    def push(self, update: dict[str, Any], token: str) -> None:
        """Queue an update for the bot with this token."""
        asyncio.run_coroutine_threadsafe(self.enqueue_update(update, token=token), self._loop).result(10)

    async def read_request(self, request: web.Request) -> tuple[dict[str, Any], dict[str, Any]]:
        fields, uploads = await super().read_request(request)
        method, chat_id = request.match_info["method"], fields.get("chat_id")
        self.calls.append((method, dict(fields), sorted(uploads)))
        for name in _TELEGRAM_ONLY:
            fields.pop(name, None)
        queue = self.faults[method, int(chat_id)] if chat_id else []
        queue = queue or self.faults[method, None]
        match queue.pop(0) if queue else None:
            case ApiRefusal() as refusal:
                raise refusal
            case "hang":
                await asyncio.sleep(3600)
            case "drop":
                _cut(request)
                raise ApiRefusal("nobody reads this", 500)
            case "drop_after":
                request[_CUT_AFTER] = True
        return fields, uploads

    async def handle(self, request: web.Request) -> web.StreamResponse:
        response: web.StreamResponse = await super().handle(request)
        if _CUT_AFTER in request:
            _cut(request)
        return response

    def validate(self, method: str, fields: dict[str, Any], uploads: dict[str, Any]) -> Any:
        result = super().validate(method, fields, uploads)
        if method == "getMe":
            result["username"] = "fixture_bot"  # python-telegram-bot's CommandHandler needs one
        if isinstance(result, dict) and "date" in result:
            result["date"] = int(time.time())
        return result

    async def _serve(self, ready: threading.Event) -> None:
        runner = web.AppRunner(self.app(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await self._stopping.wait()
        await runner.cleanup()


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
