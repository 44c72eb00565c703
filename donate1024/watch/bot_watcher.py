"""The bot's watch over the others: it tells when the database, Valkey, beat or a queue is silent."""

import asyncio
import logging
from math import inf
from time import monotonic
from typing import NoReturn

from django.utils.translation import gettext_noop

from donate1024.alerts import folding
from donate1024.watch.heartbeats import Sign
from donate1024.watch.judging import Look, judge
from donate1024.watch.looking import Seen, look
from donate1024.watch.rules import OF_THE_TASK
from donate1024.watch.telling import Telling

logger = logging.getLogger(__name__)

LOOK_EVERY = 10.0  # seconds


class Watcher:
    """It needs nothing of the bot but its event loop, whose lag it measures: not the lock, not the polling."""

    def __init__(self) -> None:
        self._began = self._hindered_at = monotonic()
        self._answered_at = {"database": -inf, "valkey": -inf}
        self._heard_at: float | None = None
        self._troubles: dict[str, str] = {}
        self._telling = Telling()

    def heard(self) -> None:
        """Telegram has answered the bot's polling."""
        self._heard_at = monotonic()

    async def run(self) -> NoReturn:
        lag = 0.0
        while True:
            try:
                await self.look(lag=lag)
            except Exception:  # the bot must not die of it, and the others not go unwatched
                logger.exception(
                    gettext_noop(
                        "A look at the other parts failed. If one of them falls silent now, you may not hear of it. "
                        "What to do: show this to whoever keeps the machine; the log “bot” has the details."
                    )
                )
            before = monotonic()
            await asyncio.sleep(LOOK_EVERY)
            lag = monotonic() - before - LOOK_EVERY

    async def look(self, *, lag: float) -> None:
        """Give the bot's signs of life, and tell what has changed with the others."""
        now = monotonic()
        signs = [Sign("bot", detail={"lag": round(lag, 2)})]
        if self._heard_at is not None:
            signs.append(Sign("polling", ago=now - self._heard_at))
        seen = await look(*signs)
        self._note_troubles(seen)
        folding.tell_due()
        self._telling.hear(found for found in judge(self._as_look(seen)) if found.rule.part not in OF_THE_TASK)

    def _note_troubles(self, seen: Seen) -> None:
        now = monotonic()
        for server in self._answered_at:
            trouble = seen.troubles.get(server)
            if trouble is None:
                self._answered_at[server] = now
            elif server not in self._troubles:
                logger.warning("%s does not answer: %s", server, trouble)
        if seen.troubles or self._troubles:
            self._hindered_at = now  # the others' silence counts from the first look with both servers back
        self._troubles = dict(seen.troubles)

    def _as_look(self, seen: Seen) -> Look:
        now = monotonic()
        servers = {server: now - at for server, at in self._answered_at.items()}
        return Look(
            ages={**seen.ages, **servers},
            awake_for=now - self._began,
            watched_for=min(now - self._hindered_at, seen.unbroken.get("bot", 0.0)),
            unbroken=seen.unbroken,
        )
