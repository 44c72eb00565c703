"""A slice and the witness: what it may send after, and what it tells at its end."""

import pytest

from delivery import reasons
from delivery.models import SendingLock
from tests.admin_chat import number_of, write, written_in
from tests.delivery.running import make_proven
from tests.delivery.slices import make_recipients, send, served, states
from tests.delivery.traces import errors
from tests.delivery.witnessing import renew
from tests.factories import make_subscriber
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds", "admin_chats")]


def test_a_slice_that_finds_a_newer_witness_sends_nothing_and_pauses(
    telegram: SandboxProcess, caplog: pytest.LogCaptureFixture
) -> None:
    renew()
    write(telegram, written_in(telegram).replace(" · 1 · ", " · 2 · "))
    SendingLock.objects.update(witnessed_at=None)
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)

    send(broadcast)

    broadcast.refresh_from_db()
    assert served(telegram, chats) == [0] * 3
    assert (broadcast.status, broadcast.reason) == ("paused", reasons.LOCKED)
    assert states(broadcast) == ["pending"] * 3
    assert len([words for words in errors(caplog) if words.startswith("Sending is locked")]) == 1


def test_a_slice_with_nothing_to_send_neither_asks_nor_tells(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    make_subscriber()
    known = len(telegram.get("/control/calls"))

    send(broadcast)

    assert len(telegram.get("/control/calls")) == known


def test_the_end_of_a_run_is_told(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 2)

    send(broadcast)

    assert number_of(written_in(telegram)) == 2
