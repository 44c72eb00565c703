"""Taking the mended text while somebody claims or records, each side on a connection of its own."""

from functools import partial
from threading import Event
from uuid import uuid4

import pytest
from django.db import connection, transaction

from delivery import control, ledger
from delivery.ledger import Claim, Result
from delivery.models import Broadcast, Delivery
from delivery.outcomes import Verdict
from delivery.recording import Answer, record_and_claim
from delivery.refusals import CannotChange
from posts import clock
from tests.delivery.mending import make_paused, mend, refreeze
from tests.delivery.running import turn
from tests.delivery.slices import fault, make_recipients, send, states
from tests.delivery.together import together, waits_for_lock
from tests.factories import LONG_AGO, make_delivery, make_fundraiser
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_a_claim_that_comes_first_keeps_the_old_text() -> None:
    broadcast = make_paused(status="sending", reason="", text="старе")
    make_delivery(broadcast)
    make_delivery(broadcast)
    is_claimed = Event()

    def claim_slowly() -> str:
        with transaction.atomic():
            claimed = turn(broadcast, want=1, is_probe=True)
            is_claimed.set()
            waits = waits_for_lock()
        return f"claimed {len(claimed)}, the other waited: {waits}"

    def take() -> str:
        is_claimed.wait(10)
        control.pause(broadcast, by="Ольга")
        try:
            refreeze(broadcast)
        except CannotChange as refusal:
            return str(refusal)
        return "taken"

    claimed, taken = together(claim_slowly, take)

    broadcast.refresh_from_db()
    assert claimed == "claimed 1, the other waited: True"
    assert "is out already" in taken
    assert (broadcast.text, broadcast.revision) == ("старе", 1)


@pytest.mark.django_db(transaction=True)
def test_a_claim_that_comes_while_it_is_being_taken_gets_nothing() -> None:
    broadcast = make_paused()
    make_delivery(broadcast)
    is_taken, is_over = Event(), Event()

    def take_slowly() -> int:
        with transaction.atomic():
            refreeze(broadcast)
            is_taken.set()
            is_over.wait(10)
        return 0

    def claim() -> int:
        is_taken.wait(10)
        with connection.cursor() as cursor:  # a pause whose claim slipped through: the worst that may be
            cursor.execute("SET statement_timeout = '5s'")
        claimed = turn(broadcast, revision=1, is_probe=True)
        is_over.set()
        return len(claimed)

    assert together(take_slowly, claim) == [0, 0]


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_is_being_recorded_neither_deadlocks_with_it_nor_is_overtaken() -> None:
    broadcast = make_paused(status="sending", reason="")
    make_delivery(broadcast)
    make_delivery(broadcast)
    (claim,) = turn(broadcast, want=1, is_probe=True)
    control.pause(broadcast, by="Ольга")
    refused = Verdict(Delivery.Status.PENDING, pause="Telegram refused the text: so")
    is_recorded = Event()

    def record_slowly() -> str:
        with transaction.atomic():
            ledger.turn(
                broadcast_id=broadcast.pk,
                revision=1,
                results=[Result(claim, Delivery.Status.PENDING)],
                want=0,
                token=uuid4(),
            )
            is_recorded.set()
            waits_for_lock()
            _record(broadcast, claim, refused)
        return "recorded"

    def take() -> str:
        is_recorded.wait(10)
        try:
            refreeze(broadcast)
        except CannotChange:
            return "refused"
        return "taken"

    assert together(record_slowly, take) == ["recorded", "refused"]
    assert set(Delivery.objects.values_list("status", "revision")) == {("pending", 1)}


@pytest.mark.django_db(transaction=True)
def test_hammered_by_claims_no_row_is_left_with_the_old_text_or_sent_with_it() -> None:
    broadcast = make_paused(status="sending", reason="", first_sent_at=LONG_AGO)
    for _ in range(6):
        make_delivery(broadcast)

    def claim_and_give_back() -> int:
        for _ in range(40):
            for claim in turn(broadcast, revision=1, want=3):
                ledger.give_back(token=claim.token)
        return 0

    def take() -> int:
        taken = 0
        for _ in range(20):
            Broadcast.objects.update(status="paused", reason="so")
            try:
                refreeze(broadcast)
                taken += 1
            except CannotChange:
                pass
            Broadcast.objects.update(status="sending", reason="")
        return taken

    *_, taken = together(*[partial(claim_and_give_back)] * 3, take)

    broadcast.refresh_from_db()
    assert broadcast.revision == taken + 1
    assert set(Delivery.objects.values_list("status", "revision")) == {("pending", taken + 1)}


def _record(broadcast: Broadcast, claim: Claim, verdict: Verdict) -> None:
    record_and_claim(
        broadcast_id=broadcast.pk,
        revision=1,
        bot_id=1024,
        answers=[Answer(claim, verdict, is_probe=True)],
        want=0,
        token=uuid4(),
        is_probe=False,
    )


@pytest.mark.django_db(transaction=True)
def test_after_a_refused_text_the_mended_one_goes_to_everybody_and_the_old_one_to_nobody(
    telegram: SandboxProcess,
) -> None:
    fundraiser = make_fundraiser(title="Старе")
    broadcast = make_paused(status="planned", reason="", fundraiser=fundraiser, text="Старе")
    chats = make_recipients(telegram, broadcast, 6)
    fault(telegram, {"status": 400, "description": "Bad Request: can't parse entities"}, method="sendMessage", times=1)
    send(broadcast)
    mend(broadcast)

    refreeze(broadcast)
    control.resume(broadcast, by="Ольга", at=clock.now())
    send(broadcast)

    texts = {chat: [message["text"] for message in telegram.sent_to(chat)] for chat in chats}
    assert all(len(got) == 1 and "Виправлено" in got[0] for got in texts.values())
    assert set(states(broadcast)) == {"sent"}
