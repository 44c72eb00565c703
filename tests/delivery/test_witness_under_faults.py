"""The witness of many slices at once, of killed ones, and in a Telegram that does not answer."""

from datetime import timedelta
from typing import Any

import pytest

from delivery import planning, reasons, sending, witness
from delivery.models import SendingLock
from posts import clock
from subscribers.telegram.outcomes import ChannelError, Flooded, OutcomeUnknown, TokenRefused
from tests.admin_chat import number_of, written_in
from tests.delivery.slices import calls_to, fault, make_recipients, send, served
from tests.delivery.witnessing import in_a_slice, lock, may_send, renew, warnings
from tests.factories import make_broadcast
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds", "admin_chats")]


# Many at once, and kills.


def test_slices_that_renew_at_the_same_moment_do_not_lock_each_other_out(telegram: SandboxProcess) -> None:
    for _ in range(2):
        SendingLock.objects.update(witnessed_at=None)
        assert in_a_slice(*[witness.may_send] * 32) == [True] * 32

    assert not lock().is_locked
    assert number_of(written_in(telegram)) <= lock().number
    assert renew() is True


def test_a_write_that_arrives_late_does_not_lock(telegram: SandboxProcess) -> None:
    fault(telegram, {"delay": 1.0}, method="setMyCommands", nth=1)

    in_a_slice(witness.renew, witness.renew)

    assert renew() is True


def test_a_kill_between_the_commit_of_the_number_and_the_write_does_not_lock(telegram: SandboxProcess) -> None:
    renew()
    fault(telegram, "drop", method="setMyCommands")

    outcome = renew()
    before = lock().number, number_of(written_in(telegram))

    assert isinstance(outcome, OutcomeUnknown)
    assert before == (2, 1)
    assert may_send() is True
    assert not lock().is_locked


def test_a_write_that_was_taken_without_an_answer_does_not_lock(telegram: SandboxProcess) -> None:
    fault(telegram, "drop_after", method="setMyCommands")

    outcome = renew()

    assert isinstance(outcome, OutcomeUnknown)
    assert may_send() is True


# A Telegram that does not answer.


@pytest.mark.parametrize("method", ["getMyCommands", "setMyCommands"])
@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        ({"status": 502}, OutcomeUnknown),
        ({"status": 200, "body": "<html>a hotel's page</html>"}, OutcomeUnknown),
        ({"status": 429, "retry_after": 1}, Flooded),
        ({"status": 401, "description": "Unauthorized"}, TokenRefused),
        ("drop", OutcomeUnknown),
    ],
)
def test_nothing_is_claimed_before_the_witness_was_read_and_written(
    telegram: SandboxProcess, method: str, trouble: Any, expected: type[ChannelError]
) -> None:
    fault(telegram, trouble, method=method)

    assert isinstance(may_send(), expected)
    assert lock().witnessed_at is None


@pytest.mark.parametrize("result", ["[7]", "7", '[{"command": "status"}]'])
def test_commands_that_nobody_can_read_are_no_answer(
    telegram: SandboxProcess, result: str, caplog: pytest.LogCaptureFixture
) -> None:
    fault(telegram, {"status": 200, "body": f'{{"ok": true, "result": {result}}}'}, method="getMyCommands", times=2)

    planning.refuse_locked(at=clock.now())  # which lets the morning be planned

    assert isinstance(may_send(), OutcomeUnknown)
    assert warnings(caplog) == ["the witness in Telegram does not answer: OutcomeUnknown"]


@pytest.mark.parametrize("method", ["getMyCommands", "setMyCommands"])
def test_a_slice_waits_out_a_telegram_that_does_not_answer_for_the_witness(
    telegram: SandboxProcess, method: str
) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, {"status": 502}, method=method, times=2)

    send(broadcast)

    assert served(telegram, chats) == [1] * 3


def test_a_slice_holds_and_calls_nobody_while_telegram_does_not_answer_for_the_witness(
    telegram: SandboxProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 1.2)
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, {"status": 502}, method="getMyCommands", times=0)
    known = len(telegram.get("/control/calls"))

    send(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.reason == reasons.NO_ANSWERS
    assert calls_to(telegram, chats) == []
    assert len(telegram.get("/control/calls")) - known == 2  # after half a second's hold comes one of a second


def test_a_morning_is_planned_though_telegram_does_not_answer(
    telegram: SandboxProcess, caplog: pytest.LogCaptureFixture
) -> None:
    fault(telegram, {"status": 502}, method="getMyCommands")

    planning.refuse_locked(at=clock.now())

    assert warnings(caplog) == ["the witness in Telegram does not answer: OutcomeUnknown"]


def test_a_morning_is_planned_though_telegram_hangs(
    telegram: SandboxProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(witness, "ASK_WITHIN", 0.3)
    fault(telegram, {"hang": 5}, method="getMyCommands")

    planning.refuse_locked(at=clock.now())

    assert warnings(caplog) == ["the witness in Telegram does not answer: TimeoutError"]


def test_a_slice_pauses_where_the_witness_refuses_the_token(telegram: SandboxProcess) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, {"status": 401, "description": "Unauthorized"}, method="getMyCommands", times=0)

    send(broadcast)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("paused", reasons.TOKEN_REFUSED)
    assert served(telegram, chats) == [0] * 3


def test_a_slice_holds_for_as_long_as_telegram_says_at_the_witness(telegram: SandboxProcess) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, {"status": 429, "retry_after": 40}, method="getMyCommands", times=0)

    send(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.hold_until
    assert broadcast.hold_until > clock.now() + timedelta(seconds=20)
    assert served(telegram, chats) == [0] * 3
