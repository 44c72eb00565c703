"""One slice: sends what is due of a broadcast, at the common pace, for half a minute at most."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from uuid import UUID, uuid4

import redis.exceptions
from django.conf import settings

from delivery import brakes, ledger, reasons, stopping, witness
from delivery.calls import Calls
from delivery.channels.telegram import FrozenMessage, TelegramChannel
from delivery.database_thread import DatabaseThread, close_connection
from delivery.ledger import Claim
from delivery.models import Broadcast, UploadedPicture
from delivery.outcomes import verdict_on
from delivery.recording import Answer, record_and_claim
from delivery.window import Window
from posts.database_away import DATABASE_AWAY
from subscribers.telegram.client import TelegramBot, bot_id, open_bot
from subscribers.telegram.outcomes import ChannelError
from subscribers.telegram.pace import Pace, open_pace

logger = logging.getLogger(__name__)

SLICE_SECONDS = 30.0
HORIZON = 0.25  # seconds: permits are not reserved further ahead, so that a claim never waits long for its call
NAP = 0.05  # seconds between two looks where nothing can be claimed at once
# Seconds to write down answers while PostgreSQL restarts; then they become `unknown`. With the calls in flight it is
# less than a supervisor waits for a worker that it stops.
DATABASE_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a slice must know of its broadcast."""

    broadcast_id: int
    revision: int
    bot_id: int
    picture_id: str | None
    message: FrozenMessage


def load_frozen(broadcast_id: int) -> Frozen:
    broadcast = Broadcast.objects.get(pk=broadcast_id)
    picture = bytes(broadcast.picture.content) if broadcast.picture else None
    message = FrozenMessage(broadcast.text, broadcast.buttons, picture)
    return Frozen(broadcast.pk, broadcast.revision, bot_id(), broadcast.picture_id, message)


def uploaded(bot: int, picture_id: str | None) -> str:
    """The handle under which Telegram keeps the picture for this bot; empty where there is none."""
    handles = UploadedPicture.objects.filter(bot_id=bot, picture_id=picture_id)
    return handles.values_list("file_id", flat=True).first() or ""


async def run_slice(broadcast_id: int) -> bool:
    """Send what is due, and return whether something is left that a successor should go on with.

    Ends after 30 s, when the worker is told to stop, and when nothing can be claimed before then.
    """
    window = Window(per_second=settings.TELEGRAM_MESSAGES_PER_SECOND, slices=settings.TELEGRAM_SENDERS)
    async with DatabaseThread() as database, open_pace() as pace, open_bot(connections=window.most) as bot:
        frozen = await database.run(load_frozen, broadcast_id)
        return await Slice(frozen, database, pace, bot, window).run()


class Slice:
    def __init__(self, frozen: Frozen, database: DatabaseThread, pace: Pace, bot: TelegramBot, window: Window) -> None:
        self._frozen = frozen
        self._database = database
        self._pace = pace
        self._bot = bot
        self._channel = TelegramChannel(bot, frozen.message)
        self._calls = Calls(self._channel, window)
        self._window = window
        self._is_witnessed = False
        self._has_pace = True
        self._away_since = inf  # the monotonic time since which PostgreSQL does not answer
        self._ends = monotonic() + SLICE_SECONDS

    async def run(self) -> bool:
        is_left = True
        try:
            while is_left and not self._is_over:
                is_left = await self._step_or_wait()
        finally:  # after what nobody foresaw too: whoever was called has an answer
            while self._calls or self._calls.answers:
                await self._calls.wait_for_answer(seconds=NAP)
                await self._turn(want=0)
        if self._is_witnessed and not is_left:
            with suppress(ChannelError, *DATABASE_AWAY):  # the next slice tells it
                await witness.renew(self._bot, self._database)
        return is_left and not stopping.is_requested()

    @property
    def _is_over(self) -> bool:
        return stopping.is_requested() or monotonic() > self._ends

    async def _step_or_wait(self) -> bool:
        try:
            return await self._step()
        except DATABASE_AWAY:  # at a look between the turns; what answers next may be a backup
            self._is_witnessed = False
            await self._database.run(close_connection)
            await asyncio.sleep(NAP)
            return True

    async def _step(self) -> bool:
        """Permits, then the mark, then the calls. Returns whether to go on."""
        if not self._is_witnessed:
            await self._turn(want=0)  # answers that waited for PostgreSQL do not wait for the witness as well
            return await self._ask_witness()
        room = self._window.cap - len(self._calls)
        if room <= 0:
            await self._calls.wait_for_answer(seconds=NAP)
            return True
        permits = await self._take_permits(min(room, self._window.permits_per_turn))
        if not permits:
            await self._calls.wait_for_answer(seconds=NAP)
            await self._turn(want=0)
            return True
        await asyncio.sleep(permits[0])
        if await self._send(permits):
            return True
        return await self._idle()

    async def _ask_witness(self) -> bool:
        """Before the first claim, when there is something to claim. Returns whether to go on."""
        seconds = await self._seconds_to_next()
        if seconds is None or seconds > 0:
            return await self._idle()
        try:
            self._is_witnessed = await witness.may_send(self._bot, self._database)
        except ChannelError as error:
            verdict = verdict_on(error, file_id="")
            if not verdict.is_brake:
                verdict = replace(verdict, back_off=reasons.NO_ANSWERS)
            await self._database.run(brakes.apply, verdict, broadcast_id=self._frozen.broadcast_id)
            return await self._idle()  # a short hold ends within the slice
        return self._is_witnessed

    async def _take_permits(self, most: int) -> list[float]:
        try:
            permits = await self._pace.take(most, horizon=HORIZON)
        except redis.exceptions.RedisError:
            if self._has_pace:  # asked twenty times a second: one line an outage
                logger.warning("Valkey is out of reach: nothing is sent without its pace")
            self._has_pace, permits = False, []
        else:
            self._has_pace = True
        return permits

    async def _send(self, permits: list[float]) -> list[Claim]:
        """Claim for the permits and begin the calls."""
        claimed = monotonic()
        is_probe = False
        # Until the picture is uploaded there are only probes, so that it goes up once.
        claims = await self._turn(want=0 if self._channel.needs_upload else len(permits))
        if not claims and self._is_witnessed and await self._win_probe():
            claimed, is_probe = monotonic(), True
            claims = await self._turn(want=1, is_probe=True)
            if not claims:
                await self._database.run(brakes.end_probe, self._frozen.broadcast_id)
        for claim, permit in zip(claims, permits, strict=False):
            self._calls.begin(claim, claimed=claimed, after=permit - permits[0], is_probe=is_probe)
        return claims

    async def _win_probe(self) -> bool:
        frozen, channel = self._frozen, self._channel
        if channel.needs_upload:  # perhaps another slice has done it, today or for another day
            channel.file_id = await self._database.run(uploaded, frozen.bot_id, frozen.picture_id)
        return await self._database.run(
            ledger.win_probe, broadcast_id=frozen.broadcast_id, is_upload=channel.needs_upload
        )

    async def _idle(self) -> bool:
        """Nothing could be claimed: wait for what is in flight, or for the end of a short hold."""
        if self._calls.answers:
            return True  # one of them may make its row pending again
        if self._calls:
            await self._calls.wait_for_answer(seconds=NAP)
            return True
        seconds = await self._seconds_to_next()
        if seconds is None or monotonic() + seconds > self._ends:
            return False  # the sweep begins a new slice when there is something to do again
        await asyncio.sleep(min(max(seconds, NAP), 1.0))  # a stop must not wait for the end of a hold
        return True

    async def _seconds_to_next(self) -> float | None:
        return await self._database.run(
            ledger.seconds_to_next, broadcast_id=self._frozen.broadcast_id, revision=self._frozen.revision
        )

    async def _turn(self, *, want: int, is_probe: bool = False) -> list[Claim]:
        """Record the answers and claim; while PostgreSQL is away keep the answers, and claim nothing."""
        answers = self._calls.take_answers()
        if not answers and not want:
            return []
        await self._tell_flood(answers)
        token = uuid4()
        try:
            return await self._database.run(
                record_and_claim,
                broadcast_id=self._frozen.broadcast_id,
                revision=self._frozen.revision,
                bot_id=self._frozen.bot_id,
                answers=answers,
                want=want,
                token=token,
                is_probe=is_probe,
            )
        except DATABASE_AWAY:
            logger.warning("PostgreSQL is out of reach: %s answers wait to be recorded", len(answers))
            self._calls.keep(answers)
            await self._recover(token)
            return []

    async def _tell_flood(self, answers: list[Answer]) -> None:
        waits = [
            answer.verdict.flood_wait.total_seconds() for answer in answers if answer.verdict.flood_wait is not None
        ]
        if waits:
            with suppress(redis.exceptions.RedisError):  # the hold in PostgreSQL keeps the broadcast quiet all the same
                await self._pace.be_quiet(max(waits))

    async def _recover(self, token: UUID) -> None:
        """Wait for PostgreSQL, and return what a statement may have claimed whose reply was lost."""
        self._away_since = min(self._away_since, monotonic())
        self._is_witnessed = False  # what answers next may be a backup
        while True:
            await self._database.run(close_connection)
            try:
                await self._database.run(ledger.give_back, token=token)
            except DATABASE_AWAY:
                if monotonic() > self._away_since + DATABASE_PATIENCE:
                    raise
                await asyncio.sleep(NAP * 10)
            else:
                self._away_since = inf
                return
