"""The witness in Telegram, against the sandbox: what is written, where, and what is made of what others wrote."""

import asyncio
import logging
from typing import Any

import pytest
from django.conf import LazySettings
from telegram import BotCommandScopeChat

from delivery import locks, planning, reasons, sending, witness
from delivery.database_thread import DatabaseThread
from delivery.models import SendingLock
from posts import clock
from subscribers.admin_chats import AdminChat
from subscribers.telegram.client import open_bot
from subscribers.telegram.outcomes import ChannelError, Flooded, OutcomeUnknown, TokenRefused
from tests.admin_chat import ADMIN, number_of, open_chat, write, written_in
from tests.delivery.running import make_proven
from tests.delivery.slices import calls_to, fault, make_recipients, send, served, states
from tests.delivery.traces import errors
from tests.factories import make_broadcast, make_fundraiser, make_schedule, make_subscriber
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]

SECOND, GROUP = 78, -1007


@pytest.fixture(autouse=True)
def _admin_chats(telegram: SandboxProcess, settings: LazySettings) -> None:
    for chat_id in (ADMIN, SECOND):
        open_chat(telegram, chat_id)
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN]


def in_a_slice(*acts: Any) -> list[Any]:
    """What each act, called as a slice calls it, returned or raised; all at once."""

    async def one(act: Any) -> Any:
        async with DatabaseThread() as database, open_bot(connections=1) as bot:
            return await act(bot, database)

    async def at_once() -> list[Any]:
        return await asyncio.gather(*map(one, acts), return_exceptions=True)

    return asyncio.run(at_once())


def renew() -> Any:
    return in_a_slice(witness.renew)[0]


def may_send() -> Any:
    return in_a_slice(witness.may_send)[0]


def lock() -> SendingLock:
    return SendingLock.load()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


# Writing.


def test_the_day_the_number_and_the_database_are_written_where_an_admin_sees_them(telegram: SandboxProcess) -> None:
    at = clock.now()

    assert renew() is True

    assert written_in(telegram).endswith(f": {clock.local_date(at)} · 1 · {locks.look(at=at).home}")
    assert lock().is_witnessed(at=clock.now())


def test_a_renewed_testimony_is_the_next_one_and_locks_nothing(telegram: SandboxProcess) -> None:
    assert [renew() for _ in range(3)] == [True] * 3

    assert (number_of(written_in(telegram)), lock().number) == (3, 3)


def test_other_commands_of_the_chat_stay(telegram: SandboxProcess) -> None:
    async def set_commands(bot: Any, _: Any) -> None:
        scope = {"type": "chat", "chat_id": ADMIN}
        await bot.set_my_commands([("plan", "Завтра"), ("status", "Як справи")], scope=scope)

    async def commands(bot: Any, _: Any) -> list[str]:
        return [each.command for each in await bot.get_my_commands(scope={"type": "chat", "chat_id": ADMIN})]

    in_a_slice(set_commands)

    renew()

    assert in_a_slice(commands) == [["plan", "status"]]


@pytest.mark.parametrize("state", ["absent", "new"])
def test_an_admin_who_never_started_the_bot_is_passed_over(
    telegram: SandboxProcess, settings: LazySettings, state: str
) -> None:
    open_chat(telegram, 79, state=state)
    settings.TELEGRAM_ADMIN_CHATS = [404404, 79, SECOND, ADMIN]

    assert renew() is True

    assert number_of(written_in(telegram, SECOND)) == 1
    assert written_in(telegram) == ""


def test_a_linked_chat_keeps_the_witness_after_those_of_the_setting(
    telegram: SandboxProcess, settings: LazySettings
) -> None:
    AdminChat.objects.create(chat_id=SECOND, role="curator", linked_at=clock.now())
    renew()
    first = written_in(telegram), written_in(telegram, SECOND)
    settings.TELEGRAM_ADMIN_CHATS = []

    renew()

    assert (number_of(first[0]), first[1]) == (1, "")
    assert number_of(written_in(telegram, SECOND)) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        {"status": 400, "description": "Bad Request: chat not found"},
        {"status": 400, "description": "Bad Request: BOT_COMMANDS_TOO_MUCH"},
        {"status": 403, "description": "Forbidden: bot was kicked from the group chat"},
        {"status": 403, "description": "Forbidden: words of next year"},
        {"status": 400, "description": "Bad Request: group upgraded", "parameters": {"migrate_to_chat_id": -1009}},
        {"status": 400, "description": "Bad Request: description too long"},
    ],
)
@pytest.mark.parametrize("method", ["getMyCommands", "setMyCommands"])
def test_a_chat_that_refuses_is_passed_over(
    telegram: SandboxProcess, settings: LazySettings, method: str, refusal: dict[str, Any]
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN, SECOND]
    fault(telegram, refusal, method=method, nth=1, times=1)

    assert renew() is True

    found = [written for chat in (ADMIN, SECOND) if (written := written_in(telegram, chat))]
    assert len(found) == 1
    assert number_of(found[0]) == 1


def test_where_nobody_keeps_a_witness_sending_goes_on(settings: LazySettings) -> None:
    settings.TELEGRAM_ADMIN_CHATS = []

    assert may_send() is True

    assert lock().is_witnessed(at=clock.now())


def test_an_empty_witness_is_warned_of_once_a_morning_and_never_locks(
    telegram: SandboxProcess, caplog: pytest.LogCaptureFixture
) -> None:
    renew()
    open_chat(telegram)  # somebody deleted the commands
    make_schedule()
    make_fundraiser()
    SendingLock.objects.update(witnessed_at=None)

    planning.refuse_locked(at=clock.now())
    can_send = may_send(), may_send()

    assert can_send == (True, True)
    assert [words for words in warnings(caplog) if "keeps a witness" in words] == warnings(caplog) != []
    assert len(warnings(caplog)) == 1
    assert number_of(written_in(telegram)) == 2


# Reading.


@pytest.mark.parametrize(
    "nonsense",
    [
        "Привіт",
        "1",
        "2026-03-29 · 5",
        "2026-99-99 · 5 · 0123abcd",
        "0000-00-00 · 5 · 0123abcd",
        "2026-02-30 · 9 · 0123abcd",
        "2026-03-29 · -5 · 0123abcd",
        "2026-03-29 · 99999999999999999999999999 · 0123abcd",
        "2026-03-29 · ٥ · 0123abcd",
        "٢٠٢٦-٠٣-٢٩ · 5 · 0123abcd",
        "2026-03-29 · 5 · 0123ABCD",
        "2026-03-29 · 5 · 0123abcd!",
        "2026-03-29 · 5.5 · 0123abcd",
        "ж" * 256,
    ],
)
def test_a_witness_edited_into_nonsense_neither_stops_the_morning_nor_locks(
    telegram: SandboxProcess, nonsense: str
) -> None:
    write(telegram, nonsense)

    planning.refuse_locked(at=clock.now())

    assert may_send() is True
    assert number_of(written_in(telegram)) == 1


def test_an_edited_number_locks_and_one_unlock_is_enough(telegram: SandboxProcess) -> None:
    renew()
    written = written_in(telegram)
    write(telegram, written.replace(" · 1 · ", " · 999999999999999 · "))

    locked = renew()
    locks.unlock(testimonies=witness.ask(), by="Ольга", at=clock.now())

    assert locked is False
    assert may_send() is True
    assert may_send() is True


@pytest.mark.parametrize("newest", [0, 1])
def test_the_newest_testimony_of_all_chats_counts(
    telegram: SandboxProcess, settings: LazySettings, newest: int
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN, SECOND]
    renew()
    written = written_in(telegram)
    chats = [ADMIN, SECOND]
    write(telegram, written.replace(" · 1 · ", " · 5 · "), chats[newest])
    write(telegram, written, chats[1 - newest])

    assert renew() is False
    assert lock().reason == reasons.COPY


def test_another_command_is_no_witness(telegram: SandboxProcess) -> None:
    async def set_another(bot: Any, _: Any) -> None:
        await bot.set_my_commands([("start", "x: 2026-03-29 · 99 · 0123abcd")], scope=BotCommandScopeChat(ADMIN))

    in_a_slice(set_another)

    assert renew() is True


def test_a_slice_of_another_bot_may_not_send(telegram: SandboxProcess, settings: LazySettings) -> None:
    renew()
    settings.TELEGRAM_BOT_TOKEN = "2048:another-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

    assert may_send() is False
    assert lock().reason == f"{reasons.OTHER_BOT}: 1024 / 2048"


def test_a_status_in_another_scope_is_no_witness(telegram: SandboxProcess) -> None:
    async def set_default(bot: Any, _: Any) -> None:
        await bot.set_my_commands([("status", "x: 2026-03-29 · 99 · 0123abcd")])

    in_a_slice(set_default)

    assert renew() is True


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


# A slice.


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
