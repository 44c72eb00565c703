"""The witness in Telegram, against the sandbox: what is written, where, and what is made of what others wrote."""

from typing import Any

import pytest
from django.conf import LazySettings
from telegram import BotCommandScopeChat

from delivery import locks, planning, reasons, witness
from delivery.models import SendingLock
from posts import clock
from subscribers.admin_chats import AdminChat
from tests.admin_chat import ADMIN, SECOND_ADMIN, number_of, open_chat, write, written_in
from tests.delivery.slices import fault
from tests.delivery.witnessing import in_a_slice, lock, may_send, renew, warnings
from tests.factories import make_fundraiser, make_schedule
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds", "admin_chats")]


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
    settings.TELEGRAM_ADMIN_CHATS = [404404, 79, SECOND_ADMIN, ADMIN]

    assert renew() is True

    assert number_of(written_in(telegram, SECOND_ADMIN)) == 1
    assert written_in(telegram) == ""


def test_a_linked_chat_keeps_the_witness_after_those_of_the_setting(
    telegram: SandboxProcess, settings: LazySettings
) -> None:
    AdminChat.objects.create(chat_id=SECOND_ADMIN, role="curator", linked_at=clock.now())
    renew()
    first = written_in(telegram), written_in(telegram, SECOND_ADMIN)
    settings.TELEGRAM_ADMIN_CHATS = []

    renew()

    assert (number_of(first[0]), first[1]) == (1, "")
    assert number_of(written_in(telegram, SECOND_ADMIN)) == 2


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
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN, SECOND_ADMIN]
    fault(telegram, refusal, method=method, nth=1, times=1)

    assert renew() is True

    found = [written for chat in (ADMIN, SECOND_ADMIN) if (written := written_in(telegram, chat))]
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
    settings.TELEGRAM_ADMIN_CHATS = [ADMIN, SECOND_ADMIN]
    renew()
    written = written_in(telegram)
    chats = [ADMIN, SECOND_ADMIN]
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
