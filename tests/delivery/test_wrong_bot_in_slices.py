"""The wrong bot met by several slices at once, and by one that calls."""

from functools import partial
from threading import Barrier

import pytest
from django.conf import LazySettings
from django.db import transaction

from delivery import control
from delivery.ledger import Claim
from posts import clock
from tests.delivery.gone import PAUSED, SENT, UNREACHABLE, answer, left, make_running, outcome, record
from tests.delivery.running import turn
from tests.delivery.slices import calls_to, make_recipients, send, served, states
from tests.delivery.together import together
from tests.factories import make_broadcast
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slices", [2, 8])
def test_several_slices_at_once_unsubscribe_nobody(slices: int) -> None:
    broadcast = make_running(80)
    claims = turn(broadcast, want=80)
    shares = [claims[number::slices] for number in range(slices)]

    def slice_of(share: list[Claim]) -> None:
        for claim in share:
            record(broadcast, [claim], UNREACHABLE)

    together(*[partial(slice_of, share) for share in shares])

    assert outcome(broadcast) == PAUSED
    assert left() == 0
    assert set(states(broadcast)) == {"pending"}


@pytest.mark.django_db(transaction=True)
def test_of_two_slices_neither_of_which_sees_twenty_the_later_one_counts_both() -> None:
    broadcast = make_running(31)
    answer(broadcast, SENT, 1)
    claims = turn(broadcast, want=30)
    both_began = Barrier(2)

    def slice_of(share: list[Claim]) -> None:
        with transaction.atomic():
            both_began.wait(10)
            record(broadcast, share, UNREACHABLE)

    together(lambda: slice_of(claims[:11]), lambda: slice_of(claims[11:22]))

    assert outcome(broadcast) == PAUSED
    assert left() == 0


@pytest.mark.django_db(transaction=True)
def test_a_run_of_the_wrong_bot_costs_five_calls_and_after_the_right_ones_everybody_is_served_once(
    telegram: SandboxProcess, settings: LazySettings
) -> None:
    broadcast = make_broadcast(date=clock.local_date(clock.now()))
    chats = make_recipients(telegram, broadcast, 40)
    telegram.post("/control/chats", [{"chat_id": chat, "state": "absent"} for chat in chats])

    send(broadcast)
    calls, paused, away = len(calls_to(telegram, chats)), outcome(broadcast), left()
    telegram.post("/control/chats", [{"chat_id": chat, "state": "open"} for chat in chats])
    control.resume(broadcast, by="Ольга", at=clock.now())
    send(broadcast)

    assert (calls, paused, away) == (5, PAUSED, 0)
    assert served(telegram, chats) == [1] * 40
    assert set(states(broadcast)) == {"sent"}
