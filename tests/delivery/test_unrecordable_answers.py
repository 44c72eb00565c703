"""An answer that cannot be written down: it costs its own row only, and nobody is called twice."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar
from uuid import uuid4

import pytest
from django.db import DataError, OperationalError

from delivery import ledger, sending
from delivery.database_thread import DatabaseThread
from delivery.ledger import Claim
from delivery.models import Broadcast, Delivery
from delivery.outcomes import Verdict, verdict_on
from delivery.recording import Answer, record_and_claim
from posts import clock
from subscribers.models import Subscriber
from subscribers.telegram.outcomes import RecipientGone
from tests.delivery.refusing import DEADLOCK, refusing
from tests.delivery.running import make_proven, turn
from tests.delivery.slices import fault, make_recipients, send, send_frozen, served, states
from tests.delivery.traces import errors
from tests.factories import make_broadcast, make_delivery
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)

P = ParamSpec("P")
R = TypeVar("R")

SENT = Verdict(Delivery.Status.SENT, message_id="77")
ODD = Verdict(Delivery.Status.SENT, message_id="7" * 201)  # longer than its column
GONE = verdict_on(RecipientGone("", left_reason="blocked"), file_id="")


def make_claimed(broadcast: Broadcast, count: int) -> list[Claim]:
    for _ in range(count):
        make_delivery(broadcast)
    claims = turn(broadcast, is_probe=True)
    return sorted(claims, key=lambda claim: claim.subscriber_id)


def record(
    broadcast: Broadcast, claims: list[Claim], *verdicts: Verdict, want: int = 0, is_probe: bool = False
) -> list[Claim]:
    return record_and_claim(
        broadcast_id=broadcast.pk,
        revision=1,
        bot_id=1024,
        answers=[Answer(claim, verdict, is_probe) for claim, verdict in zip(claims, verdicts, strict=True)],
        want=want,
        token=uuid4(),
        is_probe=False,
    )


@pytest.mark.parametrize(("others", "state"), [(SENT, "sent"), (GONE, "skipped")])
def test_only_the_row_of_an_answer_that_cannot_be_recorded_becomes_unknown(
    others: Verdict, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_proven()
    claims = make_claimed(broadcast, 3)
    make_delivery(broadcast)

    more = record(broadcast, claims, others, ODD, others, want=5)

    broadcast.refresh_from_db()
    assert states(broadcast) == [state, "unknown", state, "pending"]
    assert Subscriber.objects.exclude(left_at=None).count() == (2 if others == GONE else 0)
    assert Delivery.objects.get(status="unknown").reason == "unforeseen error"
    assert more == []
    assert broadcast.reason == "unforeseen error"  # a hold: the next answer may be as odd
    assert broadcast.hold_until
    assert broadcast.hold_until > clock.now()
    (told,) = errors(caplog)
    assert told.startswith(f"What Telegram answered about delivery {claims[1].delivery_id} cannot be recorded. ")
    assert "What to do: " in told


def test_a_first_message_whose_answer_cannot_be_recorded_proves_nothing_and_counts_as_shown() -> None:
    broadcast = make_broadcast(status="sending", probe_until=clock.now())

    record(broadcast, make_claimed(broadcast, 1), ODD, is_probe=True)

    broadcast.refresh_from_db()
    assert (broadcast.first_sent_at, broadcast.probe_until) == (None, None)
    assert broadcast.fundraiser
    broadcast.fundraiser.refresh_from_db()
    assert broadcast.fundraiser.times_shown == 1


def test_what_a_deadlock_interrupts_is_not_called_unknown() -> None:
    broadcast = make_proven()
    claims = make_claimed(broadcast, 2)

    with refusing("delivery_delivery", "NEW.message_id = '77'", code=DEADLOCK), pytest.raises(OperationalError):
        record(broadcast, claims, ODD, SENT)

    assert states(broadcast) == ["unknown", "sending"]
    record(broadcast, claims, ODD, SENT)  # as the slice does
    assert states(broadcast) == ["unknown", "sent"]


@pytest.mark.parametrize("verdicts", [[], [GONE]])
def test_a_claim_that_fails_is_no_answers_fault(verdicts: list[Verdict], caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_proven()
    claims = make_claimed(broadcast, len(verdicts))

    with pytest.raises(DataError):
        record(broadcast, claims, *verdicts, want=-1)

    assert states(broadcast) == ["skipped"] * len(verdicts)
    assert errors(caplog) == []


def test_a_slice_whose_answer_cannot_be_recorded_goes_on(telegram: SandboxProcess, short_holds: None) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    odd = Subscriber.objects.get(chat_id=chats[7]).pk

    with refusing("delivery_delivery", f"NEW.subscriber_id = {odd} AND NEW.status = 'sent'"):
        send(broadcast)

    assert states(broadcast) == ["sent"] * 7 + ["unknown"] + ["sent"] * 12
    assert served(telegram, chats) == [1] * 20


class BreaksAtALook(DatabaseThread):
    """The look for a probe, while calls are on their way, fails in a way that nobody foresaw."""

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if function is ledger.win_probe:
            raise ZeroDivisionError
        return await super().run(function, *args, **kwargs)


def test_a_slice_that_breaks_records_the_answers_of_whom_it_has_called(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, {"delay": 0.5}, times=0)

    with pytest.raises(ZeroDivisionError):
        send_frozen(sending.load_frozen(broadcast.pk), BreaksAtALook())

    assert states(broadcast) == ["sent"] * 3
    assert served(telegram, chats) == [1] * 3
