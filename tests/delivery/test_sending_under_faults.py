"""One slice while what it stands on is cut, away, or told to stop."""

import asyncio
from collections.abc import Callable
from threading import Thread
from time import sleep
from typing import ParamSpec, TypeVar

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection, transaction

from delivery import ledger, reasons, sending
from delivery.database_thread import DatabaseThread
from delivery.models import SendingLock
from delivery.recording import record_and_claim
from posts import clock
from subscribers.models import Subscriber
from tests.delivery.running import make_proven
from tests.delivery.slices import calls_to, fault, make_recipients, send, send_frozen, served, states
from tests.delivery.together import together
from tests.factories import LONG_AGO, make_broadcast
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]

P = ParamSpec("P")
R = TypeVar("R")

CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def test_a_database_that_cuts_its_connections_loses_no_answer_and_makes_no_unknown(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 150)
    fault(telegram, {"delay": 0.1}, times=0)
    sender = Thread(target=send, args=[broadcast])

    sender.start()
    while set(states(broadcast)) == {"pending"}:
        sleep(0.01)
    while sender.is_alive():
        sleep(0.1)
        with connection.cursor() as cursor:
            cursor.execute(CUT)
    sender.join()

    assert set(states(broadcast)) == {"sent"}
    assert served(telegram, chats) == [1] * 150


def test_a_database_that_comes_back_as_another_one_locks_before_anything_is_claimed(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 150)
    fault(telegram, {"delay": 0.1}, times=0)
    sender = Thread(target=send, args=[broadcast])
    sender.start()
    while "sent" not in states(broadcast):
        sleep(0.01)

    with transaction.atomic(), connection.cursor() as cursor:  # as when a backup is put in its place
        SendingLock.objects.update(home="another")
        cursor.execute(CUT)
        at = clock.now()
    sender.join()

    assert SendingLock.objects.get().reason == reasons.RESTORED
    assert not broadcast.deliveries.filter(claimed_at__gt=at).exists()
    assert 0 in served(telegram, chats)


class LosesOneReply(DatabaseThread):
    """PostgreSQL commits the first claims, and the connection breaks before it could say so."""

    has_lost = False

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        returned = await super().run(function, *args, **kwargs)
        if returned and function is record_and_claim and not self.has_lost:
            self.has_lost = True
            raise OperationalError("the connection is lost")
        return returned


class IsStillAwayAfterTheFirstReply(LosesOneReply):
    """It does not answer the next question either."""

    has_been_away = False

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if function is ledger.give_back and not self.has_been_away:
            self.has_been_away = True
            raise OperationalError("the connection is refused")
        return await super().run(function, *args, **kwargs)


class IsAwayAtAnAnswer(DatabaseThread):
    """The connection breaks when the first answers are to be written down."""

    def __init__(self) -> None:
        self.asked = 0
        self.has_been_away = False

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        self.asked += 1
        if function is record_and_claim and kwargs["answers"] and not self.has_been_away:
            self.has_been_away = True
            raise OperationalError("the connection is lost")
        return await super().run(function, *args, **kwargs)


class IsAway(DatabaseThread):
    """PostgreSQL has read the broadcast to a slice, and takes no connection since."""

    def __init__(self) -> None:
        self.asked = 0

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if function is ledger.seconds_to_next:
            self.asked += 1
            raise OperationalError("the connection is refused")
        return await super().run(function, *args, **kwargs)


class LooksSlowly(DatabaseThread):
    """A look for a probe lasts so long that calls are over by its end."""

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if function is ledger.win_probe:
            await asyncio.sleep(0.5)
        return await super().run(function, *args, **kwargs)


class LosesTheLastOneAfterTheProbeIsWon(DatabaseThread):
    """Whoever was left has their /stop recorded between the won probe and its claim."""

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        returned = await super().run(function, *args, **kwargs)
        if function is ledger.win_probe:
            left = Subscriber.objects.filter(left_at=None)
            await super().run(lambda: left.update(left_at=LONG_AGO, left_reason="stopped"))
        return returned


def test_a_probe_that_finds_nobody_leaves_the_next_one_free(telegram: SandboxProcess) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 1)

    send_frozen(sending.load_frozen(broadcast.pk), LosesTheLastOneAfterTheProbeIsWon())

    broadcast.refresh_from_db()
    assert broadcast.status == "sending"  # the probe was won
    assert broadcast.probe_until is None
    assert served(telegram, chats) == [0]


def test_claims_whose_reply_was_lost_are_given_back_and_sent(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 5)

    send_frozen(sending.load_frozen(broadcast.pk), LosesOneReply())

    assert states(broadcast) == ["sent"] * 5
    assert served(telegram, chats) == [1] * 5


def test_a_database_that_is_away_a_second_time_is_waited_for_as_well(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 5)
    database = IsStillAwayAfterTheFirstReply()

    send_frozen(sending.load_frozen(broadcast.pk), database)

    assert database.has_been_away
    assert states(broadcast) == ["sent"] * 5
    assert served(telegram, chats) == [1] * 5


def test_answers_that_waited_for_the_database_are_written_down_as_soon_as_it_is_back(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 1)  # nothing else is due: only the answer is left
    database = IsAwayAtAnAnswer()

    send_frozen(sending.load_frozen(broadcast.pk), database)

    assert database.has_been_away
    assert states(broadcast) == ["sent"]
    assert database.asked < 100


def test_a_database_that_stays_away_is_not_asked_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 1.0)
    database = IsAway()

    send_frozen(sending.load_frozen(make_proven().pk), database)

    assert 1 < database.asked < 25


def test_an_answer_that_comes_during_the_last_look_is_counted_before_the_slice_is_done(
    telegram: SandboxProcess,
) -> None:
    broadcast = make_proven()
    (chat,) = make_recipients(telegram, broadcast, 1)
    telegram.post("/control/chats", [{"chat_id": chat, "migrated_to": -chat}, {"chat_id": -chat}])
    fault(telegram, {"delay": 0.3}, chat_id=chat)

    send_frozen(sending.load_frozen(broadcast.pk), LooksSlowly())

    assert states(broadcast) == ["sent"]
    assert served(telegram, [-chat]) == [1]


def test_without_valkey_nothing_is_sent_and_the_log_says_so_once(
    telegram: SandboxProcess, settings: LazySettings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 0.5)
    settings.LIMITER_URL = "unix:///nowhere/valkey.sock"
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)

    is_left = send(broadcast)

    assert is_left
    assert calls_to(telegram, chats) == []
    assert states(broadcast) == ["pending"] * 3
    assert caplog.text.count("Valkey is out of reach") == 1


def test_a_worker_that_is_told_to_stop_finishes_its_calls_and_begins_none(
    telegram: SandboxProcess, settings: LazySettings, stop: Callable[[], None]
) -> None:
    settings.TELEGRAM_MESSAGES_PER_SECOND = 20
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 60)
    fault(telegram, {"delay": 0.5}, chat_id=chats[5])

    def stop_soon() -> bool:
        sleep(0.5)
        stop()
        return True

    is_left, _ = together(lambda: send(broadcast), stop_soon)

    assert not is_left
    assert sorted(set(states(broadcast))) == ["pending", "sent"]
    assert sum(served(telegram, chats)) == states(broadcast).count("sent")
