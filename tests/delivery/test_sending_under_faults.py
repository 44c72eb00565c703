"""One slice while what it stands on is cut, away, or told to stop."""

from threading import Thread
from time import sleep
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection

from delivery import sending
from tests.delivery.running import make_proven
from tests.delivery.slices import calls_to, fault, make_recipients, send, served, states
from tests.delivery.together import together
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]


CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def test_a_database_that_cuts_its_connections_loses_no_answer_and_makes_no_unknown(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 150)
    fault(telegram, {"delay": 0.1}, times=0)
    sender = Thread(target=send, args=[broadcast])

    sender.start()
    while sender.is_alive():
        sleep(0.1)
        with connection.cursor() as cursor:
            cursor.execute(CUT)
    sender.join()

    assert set(states(broadcast)) == {"sent"}
    assert served(telegram, chats) == [1] * 150


def test_without_valkey_nothing_is_sent(
    telegram: SandboxProcess, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 0.5)
    settings.LIMITER_URL = "unix:///nowhere/valkey.sock"
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)

    is_left = send(broadcast)

    assert is_left
    assert calls_to(telegram, chats) == []
    assert states(broadcast) == ["pending"] * 3


def test_a_worker_that_is_told_to_stop_finishes_its_calls_and_begins_none(
    telegram: SandboxProcess, settings: LazySettings, stop: Any
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
