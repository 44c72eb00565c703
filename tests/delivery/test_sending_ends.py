"""One slice when its last looks and its last words fail."""

from collections.abc import Callable
from datetime import timedelta
from typing import ParamSpec, TypeVar

import pytest
from django.conf import LazySettings
from django.db import OperationalError

from delivery import ledger, locks, reasons, sending
from delivery.database_thread import DatabaseThread
from delivery.models import Delivery, SendingLock
from delivery.recording import record_and_claim
from posts import clock
from tests.admin_chat import ADMIN, number_of, open_chat, written_in
from tests.delivery.running import make_proven
from tests.delivery.slices import fault, make_recipients, send, send_frozen, served, states
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]

P = ParamSpec("P")
R = TypeVar("R")


class BreaksOnce(DatabaseThread):
    """PostgreSQL breaks off when it is asked for this the second time."""

    def __init__(self, moment: Callable[..., object]) -> None:
        self._moment = moment
        self._asked = 0

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        self._asked += function is self._moment
        if function is self._moment and self._asked == 2:
            await self.meanwhile()
            raise OperationalError("the connection is lost")
        return await super().run(function, *args, **kwargs)

    async def meanwhile(self) -> None:
        pass


class ComesBackAsABackup(BreaksOnce):
    async def meanwhile(self) -> None:
        await self.run(lambda: SendingLock.objects.update(home="another"))


class BreaksAtTheLastAnswer(DatabaseThread):
    """PostgreSQL breaks off when an answer is to be written down, and no call is in flight any more."""

    has_broken = False

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if function is record_and_claim and kwargs["answers"] and not self.has_broken:
            self.has_broken = True
            raise OperationalError("the connection is lost")
        return await super().run(function, *args, **kwargs)


def test_a_backup_that_takes_the_databases_place_between_two_looks_locks(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 2)
    later = Delivery.objects.get(subscriber__chat_id=chats[1])
    Delivery.objects.filter(pk=later.pk).update(not_before=clock.now() + timedelta(seconds=2))

    send_frozen(sending.load_frozen(broadcast.pk), ComesBackAsABackup(ledger.seconds_to_next))

    assert served(telegram, chats) == [1, 0]
    assert SendingLock.objects.get().reason == reasons.RESTORED


def test_the_last_answer_of_a_slice_waits_for_the_database(
    telegram: SandboxProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 0.5)
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 1)
    fault(telegram, {"delay": 1}, chat_id=chats[0])

    send_frozen(sending.load_frozen(broadcast.pk), BreaksAtTheLastAnswer())

    assert states(broadcast) == ["sent"]
    assert served(telegram, chats) == [1]


def test_a_slice_ends_well_though_telegram_cannot_be_told_of_its_end(
    telegram: SandboxProcess, settings: LazySettings
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN]
    open_chat(telegram)
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 1)
    fault(telegram, {"status": 502}, method="setMyCommands", nth=2)

    assert send(broadcast) is False
    assert states(broadcast) == ["sent"]
    assert number_of(written_in(telegram)) == 1


def test_a_slice_ends_well_though_the_database_breaks_at_its_end(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 1)

    assert send_frozen(sending.load_frozen(broadcast.pk), BreaksOnce(locks.mark_witnessed)) is False
    assert states(broadcast) == ["sent"]
