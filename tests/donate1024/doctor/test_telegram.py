"""What the doctor says of the bot and its admin chats, by the sandbox."""

from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest
from django.db import connection
from pytest_django import Settings

from donate1024.doctor import telegram
from donate1024.sandbox import TOKEN
from donate1024.stack import ports
from posts import clock
from subscribers.admin_chats import AdminChat, Role
from tests.donate1024.doctor.asking import ask, mended
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def running_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("sandbox")) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: SandboxProcess, settings: Settings) -> SandboxProcess:
    settings.TELEGRAM_API_URL = running_sandbox.url
    return running_sandbox


def open_chats(sandbox: SandboxProcess, *chats: int, **facts: Any) -> None:
    sandbox.post("/control/chats", [{"chat_id": chat, "state": "open"} | facts for chat in chats])


def call(sandbox: SandboxProcess, method: str, body: bytes = b"") -> None:
    urlopen(f"{sandbox.url}/bot{TOKEN}/{method}", body, timeout=30).close()  # noqa: S310 -- ours


def test_the_bot_is_named(sandbox: SandboxProcess) -> None:
    finding = ask(telegram.bot)

    assert finding.state == "ok", finding
    assert "@" in finding.text


def test_without_a_token_there_is_the_sandbox(settings: Settings) -> None:
    settings.TELEGRAM_BOT_TOKEN = ""

    finding = ask(telegram.bot)

    assert finding.state == "off"
    assert "@BotFather" in finding.text


def test_a_refused_token_is_named_and_not_shown(sandbox: SandboxProcess, settings: Settings) -> None:
    settings.TELEGRAM_BOT_TOKEN = "123456789:AAF" + "x" * 32

    said = mended(telegram.bot)

    assert "refuses TELEGRAM_BOT_TOKEN" in said
    assert "AAF" not in said


def test_a_telegram_out_of_reach_is_named(settings: Settings) -> None:
    settings.TELEGRAM_API_URL = f"http://127.0.0.1:{ports.free()}"

    assert "HTTPS_PROXY" in mended(telegram.bot)


def test_a_webhook_is_named_by_its_host_alone(sandbox: SandboxProcess) -> None:
    call(sandbox, "setWebhook", b"url=https://hook.example.org/a-secret")
    said = mended(telegram.bot)
    call(sandbox, "deleteWebhook")

    assert "hook.example.org" in said
    assert "a-secret" not in said
    assert ask(telegram.bot).state == "ok"


def test_without_admin_chats_nobody_gets_alerts(sandbox: SandboxProcess, settings: Settings) -> None:
    settings.TELEGRAM_ADMIN_CHATS = []

    finding = ask(telegram.chats)

    assert finding.state == "off"
    assert "nobody gets alerts" in finding.text


def test_chats_of_the_setting_and_linked_ones_are_asked_and_get_no_message(
    sandbox: SandboxProcess, settings: Settings
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [501]
    AdminChat.objects.create(chat_id=502, role=Role.CURATOR, linked_at=clock.now())
    open_chats(sandbox, 501, 502)

    finding = ask(telegram.chats)

    assert finding.state == "ok", finding
    assert finding.text.startswith("2 ")
    assert sandbox.sent_to(501) == sandbox.sent_to(502) == []
    actions = sandbox.get("/control/ledger?method=sendChatAction")
    assert {action["chat_id"] for action in actions} == {501, 502}


@pytest.mark.parametrize(("state", "says"), [("blocked", "blocked by the user"), ("deactivated", "deactivated")])
def test_a_chat_that_cannot_be_written_to_is_named(
    sandbox: SandboxProcess, settings: Settings, state: str, says: str
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [501, 503]
    open_chats(sandbox, 501)
    open_chats(sandbox, 503, state=state)

    said = mended(telegram.chats)

    assert "chat 503" in said
    assert says in said
    assert "501" not in said


def test_a_chat_that_never_opened_the_bot_is_named(sandbox: SandboxProcess, settings: Settings) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [999_999]

    assert "chat 999999: Chat not found" in mended(telegram.chats)


def test_without_the_database_the_settings_chats_are_asked(
    sandbox: SandboxProcess, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [501]
    open_chats(sandbox, 501)
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")

    assert ask(telegram.chats).state == "ok"
