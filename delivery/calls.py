"""The calls in flight: each claim becomes exactly one call, or is given back unbegun."""

import asyncio
import logging
from collections import deque
from dataclasses import replace
from math import inf
from time import monotonic

from django.utils.translation import gettext_noop

from delivery import outcomes, reasons, stopping
from delivery.channels.telegram import TelegramChannel
from delivery.ledger import Claim
from delivery.outcomes import Verdict
from delivery.recording import Answer
from delivery.window import Window
from subscribers.telegram.outcomes import ChannelError

logger = logging.getLogger(__name__)

BEGIN_WITHIN = 1.0  # seconds from the claim: somebody may have left since, or the run may have been stopped
# Of different chats. Beyond them nobody is written to without a sign that it would be better.
UNKNOWN_IN_A_ROW = 2
UNKNOWN_AMONG, AMONG = 3, 10  # where one of two servers behind an address is dead
REFUSED_IN_A_ROW = 3
FLOODED_IN_A_ROW = 2  # groups: each may be its own limit, but not one after the other


class Calls:
    """What one slice has in flight, and the answers it has not recorded yet."""

    def __init__(self, channel: TelegramChannel, window: Window) -> None:
        self.answers: list[Answer] = []
        self._channel = channel
        self._window = window
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()
        self._braked = -inf  # the monotonic time of the last answer that holds or stops everybody
        self._unknown_in_a_row = 0
        self._were_unknown: deque[bool] = deque(maxlen=AMONG)
        self._refused_in_a_row = 0
        self._flooded_in_a_row = 0

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, claim: Claim, *, claimed: float, after: float, is_probe: bool) -> None:
        """Call after so many seconds; `claimed` is the monotonic time just before the claim."""
        call = self._call(claim, claimed=claimed, after=after, is_probe=is_probe)
        task = asyncio.create_task(call)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def take_answers(self) -> list[Answer]:
        """Hand over the answers, to be recorded."""
        answers, self.answers = self.answers, []
        return answers

    def keep(self, answers: list[Answer]) -> None:
        """Take back answers that could not be recorded."""
        self.answers[:0] = answers

    async def wait_for_answer(self, *, seconds: float) -> None:
        """Until one more call is over, or the time is up."""
        self._over.clear()
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return

    async def _call(self, claim: Claim, *, claimed: float, after: float, is_probe: bool) -> None:
        await asyncio.sleep(after)
        # Only a probe takes the picture's bytes along, so that it goes up once.
        is_unready = self._channel.needs_upload and not is_probe
        if self._may_begin(claimed) and not is_unready:
            verdict = self._weigh(await self._verdict(claim.chat_id), is_probe=is_probe)
        else:
            verdict = outcomes.GIVEN_BACK
        if verdict.is_brake:
            self._braked = monotonic()
        self.answers.append(Answer(claim, verdict, is_probe))
        self._over.set()

    def _may_begin(self, claimed: float) -> bool:
        return self._braked < claimed and monotonic() <= claimed + BEGIN_WITHIN and not stopping.is_requested()

    async def _verdict(self, chat_id: int) -> Verdict:
        file_id = self._channel.file_id
        started = monotonic()
        try:
            receipt = await self._channel.send(chat_id)
        except ChannelError as error:
            verdict = outcomes.verdict_on(error, file_id=file_id, is_group=chat_id < 0)
            if verdict.stale_file_id == self._channel.file_id:
                self._channel.file_id = ""
            return verdict
        except Exception:
            # Whatever it was, the message may be out: anything but `unknown` could send it twice.
            logger.exception(
                gettext_noop(
                    "A call to Telegram ended in a way that nobody foresaw. One subscriber may have got today's "
                    "message or not, and does not get it again. What to do: nothing for them; tell whoever keeps the "
                    "program."
                )
            )
            return Verdict(outcomes.Status.UNKNOWN, reasons.UNFORESEEN)
        self._window.observe(monotonic() - started)
        if receipt.file_id and not self._channel.file_id:
            self._channel.file_id = receipt.file_id
        return outcomes.sent(receipt, is_new_file=not file_id)

    def _weigh(self, verdict: Verdict, *, is_probe: bool) -> Verdict:
        """Let several bad answers in a row, or no answer to a probe, say something about all."""
        self._unknown_in_a_row = self._unknown_in_a_row + 1 if verdict.status == outcomes.Status.UNKNOWN else 0
        self._were_unknown.append(verdict.status == outcomes.Status.UNKNOWN)
        self._refused_in_a_row = self._refused_in_a_row + 1 if verdict.status == outcomes.Status.FAILED else 0
        self._flooded_in_a_row = self._flooded_in_a_row + 1 if verdict.is_groups_flood else 0
        if self._flooded_in_a_row >= FLOODED_IN_A_ROW:
            return replace(verdict, flood_wait=verdict.wait)
        are_too_many = self._unknown_in_a_row >= UNKNOWN_IN_A_ROW or sum(self._were_unknown) >= UNKNOWN_AMONG
        if self._unknown_in_a_row and (is_probe or are_too_many):
            return replace(verdict, back_off=reasons.NO_ANSWERS)
        if self._refused_in_a_row >= REFUSED_IN_A_ROW:
            return replace(verdict, pause=f"{reasons.CHATS_REFUSED}: {verdict.reason}")
        return verdict
