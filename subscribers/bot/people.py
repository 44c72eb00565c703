"""One person's updates in their order, different people's side by side."""

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from subscribers.bot import inbox
from subscribers.bot.database import Database
from subscribers.bot.events import Event, LinkOpened, PersonEvent
from subscribers.bot.handlers import Handlers, is_leaving, is_small_talk

logger = logging.getLogger(__name__)

WAITING_MOST = 20  # of one person; a last wish to leave comes on top
IN_HAND_MOST = 10_000  # of everybody; the rest waits in the database
# One chat takes about one message a second, and short bursts: each answer in a row comes a little later.
GAP, LONGEST_GAP = 0.1, 1.0  # seconds


@dataclass(frozen=True, slots=True)
class Waiting:
    pk: int  # of the InboxUpdate
    event: Event


class People:
    """Whoever has something waiting; each is attended to by a task of their own."""

    def __init__(self, database: Database, handlers: Handlers) -> None:
        self._database = database
        self._handlers = handlers
        self._room = asyncio.Semaphore(IN_HAND_MOST)
        self._queues: dict[int, deque[Waiting]] = {}
        self._asked_to_wait: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_finishing = False

    async def give(self, waiting: Waiting) -> None:
        """Put it behind what the same person sent before; waits while there is too much in hand.

        Who sends more than we can answer is asked to wait, once, and the rest is dropped, but never a wish to leave.
        """
        await self._room.acquire()
        event, chat_id = waiting.event, waiting.event.chat_id
        queue = self._queues.get(chat_id)
        if queue is None:
            self._queues[chat_id] = deque([waiting])
            self._begin(self._attend(chat_id))
        elif isinstance(event, PersonEvent | LinkOpened) and not has_room(queue, event):
            self._begin(self._turn_away(waiting))
        else:
            queue.append(waiting)

    async def finish(self, *, within: float) -> None:
        """Answer what has been begun, and leave the rest in the inbox for the next start."""
        self._is_finishing = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within)
        self.drop()

    def drop(self) -> None:
        """Stop at once; what was not marked as handled stays in the inbox."""
        for task in self._tasks:
            task.cancel()

    async def _attend(self, chat_id: int) -> None:
        queue = self._queues[chat_id]
        answers = 0
        while queue and not self._is_finishing:
            waiting = queue[0]
            if len(queue) == 1 or not is_small_talk(waiting.event):  # a burst of small talk gets one answer
                await self._answer(waiting.event, waiting.pk)
                answers += 1
            await self._settle(waiting)
            queue.popleft()
            if queue and answers:
                await asyncio.sleep(min(GAP * answers, LONGEST_GAP))
        del self._queues[chat_id]
        self._asked_to_wait.discard(chat_id)

    async def _answer(self, event: Event, pk: int) -> None:
        try:
            await self._handlers.handle(event)
        except Exception as error:  # noqa: BLE001 -- the edge of what one person's update may do
            # It would fail again at each start: one update must not make its sender mute for ever. The error's own
            # text stays out of the logs: PostgreSQL writes the failing row into it, names and all.
            frames = "".join(traceback.format_tb(error.__traceback__))
            logger.warning("Update %s: %s\n%s", pk, type(error).__name__, frames)
            logger.error(  # noqa: TRY400
                gettext_noop(
                    "Somebody's message to the bot could not be answered (%s). Only they got no answer. "
                    "What to do: nothing at once; the log “bot” has the details for whoever keeps the program."
                ),
                pk,
            )

    async def _turn_away(self, waiting: Waiting) -> None:
        event = waiting.event
        if isinstance(event, PersonEvent) and event.chat_id not in self._asked_to_wait:
            self._asked_to_wait.add(event.chat_id)
            await self._handlers.replies.one_moment(event.person)
        await self._settle(waiting)

    async def _settle(self, waiting: Waiting) -> None:
        await self._database.call(inbox.mark_handled, [waiting.pk])
        self._room.release()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def has_room(queue: Sequence[Waiting], event: Event) -> bool:
    return len(queue) < WAITING_MOST or (is_leaving(event) and not is_leaving(queue[-1].event))
