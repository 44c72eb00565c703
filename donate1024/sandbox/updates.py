"""The queue of what people did, and the long poll that empties it."""

import asyncio

from donate1024.sandbox import Json
from donate1024.sandbox.refusals import Refused

_FIRST_ID = 100_000_001  # the first `update_id`; Telegram's are as large


class Queue:
    """One bot's updates. Kept until confirmed, for ever (Telegram: 24 hours)."""

    def __init__(self) -> None:
        self.waiting: list[Json] = []
        self.next_id = _FIRST_ID
        self.webhook = ""
        self.allowed: list[str] = []
        self._poll: asyncio.Future[None] | None = None

    def put(self, update: Json) -> None:
        self.next_id = update["update_id"] + 1
        self.waiting.append(update)
        if self._poll and not self._poll.done():
            self._poll.set_result(None)

    def left_by(self, offset: int) -> list[Json]:
        """What an offset leaves: the updates from it on; a negative one, that many of the last."""
        if offset < 0:
            return self.waiting[offset:]
        return [update for update in self.waiting if update["update_id"] >= offset]

    def takes(self, update: Json) -> bool:
        """Whether the bot asked for updates of this kind."""
        return not self.allowed or any(kind in update for kind in self.allowed)

    def interrupt(self, by: str) -> None:
        """End the poll that waits, if any, with a conflict."""
        if self._poll and not self._poll.done():
            self._poll.set_exception(Refused(409, f"Conflict: terminated by {by}"))

    async def poll(self, *, limit: int, seconds: float) -> list[Json]:
        """The oldest updates, as soon as there are any; none after that many seconds."""
        if not self.waiting and seconds:
            poll = self._poll = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(seconds):
                    await poll
            except TimeoutError:
                pass
        return self.waiting[:limit]
