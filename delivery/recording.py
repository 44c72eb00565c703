"""Writing down what the calls brought, with what it means beyond the row, in one transaction."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext_noop

from delivery import brakes, ledger, reasons, wrong_bot
from delivery.models import Broadcast, Delivery, UploadedPicture
from delivery.outcomes import Verdict
from posts import clock
from posts.database_away import DATABASE_AWAY
from subscribers.models import Subscriber

logger = logging.getLogger(__name__)

# A hold, and then one message: the next one's answer may be as odd.
UNRECORDABLE = Verdict(Delivery.Status.UNKNOWN, reasons.UNFORESEEN, back_off=reasons.UNFORESEEN)


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim whose call is over, or never began."""

    claim: ledger.Claim
    verdict: Verdict
    is_probe: bool

    @property
    def result(self) -> ledger.Result:
        verdict = self.verdict
        return ledger.Result(self.claim, verdict.status, verdict.reason, verdict.message_id, verdict.wait)

    @property
    def reaches_beyond_the_row(self) -> bool:
        verdict = self.verdict
        return bool(
            self.is_probe
            or verdict.is_gone
            or verdict.new_chat_id
            or verdict.file_id
            or verdict.stale_file_id
            or verdict.is_brake
        )


def record_and_claim(
    *, broadcast_id: int, revision: int, bot_id: int, answers: Sequence[Answer], want: int, token: UUID, is_probe: bool
) -> list[ledger.Claim]:
    """Record the answers and claim up to `want` deliveries: see `ledger.turn`.

    Where an answer says something about more than its own row, that is recorded with it, in one transaction. One that
    cannot be recorded becomes `unknown`, and costs the others nothing; then nothing is claimed in this turn.
    """
    record = partial(_record, broadcast_id=broadcast_id, revision=revision, bot_id=bot_id)
    try:
        if any(answer.reaches_beyond_the_row for answer in answers):
            record(answers)
            answers = []
        results = [answer.result for answer in answers]
        return ledger.turn(
            broadcast_id=broadcast_id, revision=revision, results=results, want=want, token=token, is_probe=is_probe
        )
    except DATABASE_AWAY:
        raise
    except Exception:
        if not answers:
            raise
        logger.warning("%s answers are recorded one by one", len(answers), exc_info=True)
        for answer in answers:
            _record_alone(answer, record)
        return []


def _record_alone(answer: Answer, record: Callable[[Sequence[Answer]], None]) -> None:
    try:
        record([answer])
    except DATABASE_AWAY:
        raise
    except Exception:
        logger.exception(
            gettext_noop(
                "What Telegram answered about delivery %s cannot be recorded. It may have arrived or not, and does not "
                "go again; the others do go. What to do: nothing for them; tell whoever keeps the program."
            ),
            answer.claim.delivery_id,
        )
        record([replace(answer, verdict=UNRECORDABLE)])


@transaction.atomic
def _record(answers: Sequence[Answer], *, broadcast_id: int, revision: int, bot_id: int) -> None:
    results = [answer.result for answer in answers]
    ledger.turn(broadcast_id=broadcast_id, revision=revision, results=results, want=0, token=uuid4())
    reaching = [answer for answer in answers if answer.reaches_beyond_the_row]
    for answer in reaching:
        _record_reach(answer, broadcast_id=broadcast_id, bot_id=bot_id)
    if any(answer.verdict.is_gone for answer in reaching):
        wrong_bot.weigh_gone(broadcast_id)


def _record_reach(answer: Answer, *, broadcast_id: int, bot_id: int) -> None:
    verdict, claim = answer.verdict, answer.claim
    if verdict.left_reason:
        Subscriber.objects.mark_gone(
            claim.subscriber_id, reason=verdict.left_reason, claimed_at=claim.claimed_at, at=clock.now()
        )
    if verdict.new_chat_id is not None:
        Subscriber.objects.move(claim.subscriber_id, to=verdict.new_chat_id, at=clock.now())
    brakes.apply(verdict, broadcast_id=broadcast_id)
    if verdict.file_id or verdict.stale_file_id:
        _record_upload(verdict, broadcast_id=broadcast_id, bot_id=bot_id)
    if answer.is_probe:
        _record_probe(answer, broadcast_id=broadcast_id)


def _record_probe(answer: Answer, *, broadcast_id: int) -> None:
    verdict = answer.verdict
    if verdict.status == Delivery.Status.SENT:
        brakes.prove(broadcast_id, claimed_at=answer.claim.claimed_at)
        return
    brakes.end_probe(broadcast_id)
    if verdict.status == Delivery.Status.UNKNOWN:
        brakes.count_showing(broadcast_id)
    if verdict.status == Delivery.Status.FAILED:
        brakes.pause_unproven(broadcast_id, reason=f"{reasons.FIRST_CHAT_REFUSED}: {verdict.reason}")


def _record_upload(verdict: Verdict, *, broadcast_id: int, bot_id: int) -> None:
    picture_id, planned_at = Broadcast.objects.values_list("picture_id", "planned_at").get(pk=broadcast_id)
    # Only the handle that was refused: somebody else may have uploaded the picture again by now.
    stale = UploadedPicture.objects.filter(bot_id=bot_id, file_id=verdict.stale_file_id)
    if stale.filter(uploaded_at__gt=planned_at).exists():  # given by this run's own upload: another would not help
        brakes.pause(broadcast_id, reason=reasons.PICTURE_REFUSED)
    stale.delete()
    if verdict.file_id:
        UploadedPicture.objects.bulk_create(
            [UploadedPicture(bot_id=bot_id, picture_id=picture_id, file_id=verdict.file_id)], ignore_conflicts=True
        )
