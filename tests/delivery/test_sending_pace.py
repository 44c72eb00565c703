"""One slice and the pace: when a call goes out, and what everybody else hears of a flood."""

import asyncio
from datetime import timedelta

import pytest
import redis.exceptions
from django.conf import LazySettings

from delivery import sending
from delivery.models import Broadcast
from delivery.window import Window
from posts import clock
from subscribers.telegram.pace import Pace, open_pace
from tests.delivery.running import make_proven
from tests.delivery.slices import fault, make_recipients, send, send_frozen, served, states
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 3.0)


class IsAwayAgainAndAgain(Pace):
    """Valkey gives a permit, is away for two moments, and so on."""

    def __init__(self) -> None:
        self._asked = self.outages = 0

    async def take(self, *_: object, **__: object) -> list[float]:
        self._asked += 1
        if self._asked % 3 == 1:
            return [0.0]
        self.outages += self._asked % 3 == 2
        raise redis.exceptions.ConnectionError


class IsAwayAtAFlood(Pace):
    """Valkey is lost between the permits and the flood."""

    def __init__(self) -> None:
        pass

    async def take(self, *_: object, **__: object) -> list[float]:
        return [0.0]

    async def be_quiet(self, *_: object, **__: object) -> float:
        raise redis.exceptions.ConnectionError


def flooded(telegram: SandboxProcess) -> Broadcast:
    """A broadcast whose first call is told to wait for half a minute."""
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 2)
    fault(telegram, {"status": 429, "retry_after": 30}, method="sendMessage", times=0)
    return broadcast


def test_a_call_waits_for_its_permit_once(
    telegram: SandboxProcess, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TELEGRAM_MESSAGES_PER_SECOND = 1.2
    settings.TELEGRAM_SENDERS = 4  # of which each has one call in flight
    monkeypatch.setattr(sending, "HORIZON", 0.8)  # to wait for that twice is too long for a claim
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 2)

    send(broadcast)

    assert served(telegram, chats) == [1, 1]


def test_each_outage_of_valkey_is_told_once(telegram: SandboxProcess, caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 3)
    pace = IsAwayAgainAndAgain()

    send_frozen(sending.load_frozen(broadcast.pk), pace=pace)

    assert states(broadcast) == ["sent"] * 3
    assert caplog.text.count("Valkey is out of reach") == pace.outages > 1


def test_no_more_calls_are_in_flight_than_the_window_allows(
    telegram: SandboxProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 0.5)
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 20)
    fault(telegram, {"delay": 1}, method="sendMessage", times=0)

    send_frozen(sending.load_frozen(broadcast.pk))

    assert 0 < states(broadcast).count("sent") <= Window(per_second=100, slices=1).cap


def test_a_flood_keeps_every_other_process_quiet(telegram: SandboxProcess) -> None:
    async def quiet() -> float:
        async with open_pace() as pace:
            return await pace.be_quiet()

    send(flooded(telegram))

    assert asyncio.run(quiet()) > 20


def test_a_flood_that_valkey_cannot_be_told_of_is_recorded_all_the_same(telegram: SandboxProcess) -> None:
    broadcast = flooded(telegram)

    send_frozen(sending.load_frozen(broadcast.pk), pace=IsAwayAtAFlood())

    broadcast.refresh_from_db()
    assert states(broadcast) == ["pending"] * 2
    assert broadcast.hold_until
    assert broadcast.hold_until > clock.now() + timedelta(seconds=20)
