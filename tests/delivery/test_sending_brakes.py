"""One slice against the sandbox: what holds it, and what pauses it."""

from datetime import timedelta
from itertools import pairwise
from time import sleep
from typing import Any

import pytest
from django.conf import LazySettings

from delivery import control, sending
from subscribers.models import Subscriber
from tests.delivery.running import make_proven
from tests.delivery.slices import calls_to, fault, make_recipients, send, served, states
from tests.delivery.together import together
from tests.delivery.traces import errors
from tests.factories import LONG_AGO, make_broadcast, make_delivery, make_subscriber
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]


def longest_gap(moments: list[float]) -> float:
    return max(later - earlier for earlier, later in pairwise(moments))


def test_a_flood_holds_everybody_for_as_long_as_telegram_says_and_nobody_is_lost(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    fault(telegram, {"status": 429, "retry_after": 1}, method="sendMessage", nth=6)

    send(broadcast)

    calls = calls_to(telegram, chats)
    (refused,) = [call["at"] for call in calls if call["status"] == 429]
    later = [call["at"] - refused for call in calls if call["at"] > refused + 0.1]  # without those in flight
    assert min(later) >= 1
    assert served(telegram, chats) == [1] * 20
    assert set(states(broadcast)) == {"sent"}


def test_unknown_outcomes_in_a_row_hold_and_are_never_sent_again(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    fault(telegram, {"status": 502}, nth=4, times=2)

    send(broadcast)

    assert sorted(states(broadcast)) == ["sent"] * 18 + ["unknown"] * 2
    assert sorted(served(telegram, chats)) == [0] * 2 + [1] * 18
    calls = [call["at"] for call in calls_to(telegram, chats)]
    assert len(calls) == 20
    assert longest_gap(calls) > 0.4


def test_every_second_outcome_unknown_holds_too(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    for place in (4, 6, 8):
        fault(telegram, {"status": 502}, chat_id=chats[place])

    send(broadcast)

    assert sorted(states(broadcast)) == ["sent"] * 17 + ["unknown"] * 3
    assert longest_gap([call["at"] for call in calls_to(telegram, chats)]) > 0.4


def test_unknown_outcomes_here_and_there_do_not_hold(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    fault(telegram, {"status": 502}, chat_id=chats[4])
    fault(telegram, {"status": 502}, chat_id=chats[9])

    send(broadcast)

    assert sorted(states(broadcast)) == ["sent"] * 18 + ["unknown"] * 2
    assert longest_gap([call["at"] for call in calls_to(telegram, chats)]) < 0.4


def test_a_message_that_was_accepted_without_an_answer_is_unknown_and_not_sent_again(
    telegram: SandboxProcess,
) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 5)
    fault(telegram, "drop_after", chat_id=chats[2])

    send(broadcast)
    send(broadcast)

    assert states(broadcast) == ["sent", "sent", "unknown", "sent", "sent"]
    assert served(telegram, chats) == [1] * 5


def test_an_answer_that_nobody_foresaw_is_unknown_and_told(
    telegram: SandboxProcess, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, {"status": 200, "body": '{"ok": true, "result": [1]}'}, chat_id=chats[1])

    send(broadcast)

    assert states(broadcast) == ["sent", "unknown", "sent"]
    (told,) = errors(caplog)
    assert told.startswith("A call to Telegram ended in a way that nobody foresaw. ")


def test_a_telegram_that_cannot_be_reached_holds_and_loses_nobody(
    telegram: SandboxProcess, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 1.0)
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 5)
    settings.TELEGRAM_API_URL = "http://127.0.0.1:9"

    send(broadcast)

    broadcast.refresh_from_db()
    assert states(broadcast) == ["pending"] * 5
    assert broadcast.hold_until


def test_a_first_message_with_an_unknown_outcome_holds_before_the_second(telegram: SandboxProcess) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 5)
    fault(telegram, {"status": 502}, chat_id=chats[0])

    send(broadcast)

    assert states(broadcast) == ["unknown"] + ["sent"] * 4
    first, second, *_ = (call["at"] for call in calls_to(telegram, chats))
    assert second - first > 0.4


@pytest.mark.parametrize(
    ("refusal", "row", "reason"),
    [
        ({"status": 400, "description": "Bad Request: can't parse entities"}, "pending", "Telegram refused the text"),
        ({"status": 401, "description": "Unauthorized"}, "pending", "Telegram refused the bot's token"),
        ({"status": 404, "description": "Not Found"}, "pending", "Telegram refused the bot's token"),
        ({"status": 400, "description": "Bad Request: CHAT_RESTRICTED"}, "failed", "Telegram refused the first chat"),
    ],
)
def test_a_refusal_of_the_first_message_costs_one_call_and_pauses(
    telegram: SandboxProcess, refusal: Any, row: str, reason: str
) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 10)
    fault(telegram, refusal, times=0)

    send(broadcast)

    broadcast.refresh_from_db()
    assert len(calls_to(telegram, chats)) == 1
    assert (broadcast.status, broadcast.reason.startswith(reason)) == ("paused", True)
    assert states(broadcast) == [row] + ["pending"] * 9
    assert Subscriber.objects.active().count() == 10


def test_three_chats_that_refuse_in_a_row_pause(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    fault(telegram, {"status": 400, "description": "Bad Request: not enough rights to send text"}, nth=5, times=3)

    send(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.status == "paused"
    assert states(broadcast).count("failed") == 3
    assert states(broadcast).count("pending") > 0
    assert sum(served(telegram, chats)) == states(broadcast).count("sent")


def test_chats_that_refuse_here_and_there_do_not_pause(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 20)
    for chat in (chats[2], chats[9], chats[16]):
        fault(telegram, {"status": 400, "description": "Bad Request: not enough rights to send text"}, chat_id=chat)

    send(broadcast)

    assert sorted(states(broadcast)) == ["failed"] * 3 + ["sent"] * 17


def test_a_token_that_is_refused_in_mid_run_deactivates_nobody(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 20)
    fault(telegram, {"status": 401, "description": "Unauthorized"}, nth=8, times=0)

    send(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.status == "paused"
    assert sorted(set(states(broadcast))) == ["pending", "sent"]
    assert Subscriber.objects.active().count() == 20


def test_a_pause_by_hand_stops_the_slice_and_leaves_nothing_in_flight(
    telegram: SandboxProcess, settings: LazySettings
) -> None:
    settings.TELEGRAM_MESSAGES_PER_SECOND = 20
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 60)

    def pause_soon() -> bool:
        sleep(0.5)
        control.pause(broadcast, by="Ольга")
        return False

    together(lambda: send(broadcast), pause_soon)

    assert sorted(set(states(broadcast))) == ["pending", "sent"]


def test_one_group_after_the_other_that_floods_holds_everybody(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    groups = [make_subscriber(chat_id=-4500 - number) for number in range(6)]
    telegram.post("/control/chats", [{"chat_id": group.chat_id, "type": "group"} for group in groups])
    for number, group in enumerate(groups):
        make_delivery(broadcast, subscriber=group, not_before=LONG_AGO + timedelta(seconds=number))
    fault(telegram, {"status": 429, "retry_after": 40}, times=0)

    send(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.hold_until
    assert states(broadcast) == ["pending"] * 6
    assert len(calls_to(telegram, [group.chat_id for group in groups])) < 6
