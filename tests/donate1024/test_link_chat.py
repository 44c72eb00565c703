"""The command that prints one-time links to become an admin chat."""

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from donate1024.stack import ports
from posts import clock
from subscribers import admin_chats
from subscribers.admin_chats import Role
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db

TOKEN = "4096:the-right-one-" + "A" * 24


@pytest.fixture(scope="module")
def telegram(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("telegram"), tokens=[TOKEN]) as telegram:
        yield telegram


@pytest.fixture
def real_bot(telegram: SandboxProcess, settings: LazySettings) -> LazySettings:
    settings.SANDBOX = False
    settings.TELEGRAM_BOT_TOKEN = TOKEN
    settings.TELEGRAM_API_URL = telegram.url
    return settings


def role_of(link: str) -> Role | None:
    payload = parse_qs(urlsplit(link).query)["start"][0]
    return admin_chats.open_link(payload, chat_id=101, name="Оля", at=clock.now())


def test_there_is_a_link_to_the_bot_for_each_role(real_bot: LazySettings, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("link_chat", json=True)

    links = json.loads(capsys.readouterr().out)
    assert all(link.startswith("https://t.me/") and "_bot?start=" in link for link in links.values())
    assert {role: role_of(link) for role, link in links.items()} == {role: role for role in Role}


def test_one_role_leaves_the_others_link_alone(real_bot: LazySettings, capsys: pytest.CaptureFixture[str]) -> None:
    curators = admin_chats.make_link(Role.CURATOR, at=clock.now())

    call_command("link_chat", role=["operator"])

    (line, words) = capsys.readouterr().out.splitlines()
    assert role_of(line.split()[1]) == Role.OPERATOR
    assert "within 24 hours" in words
    assert admin_chats.open_link(curators, chat_id=102, name="", at=clock.now()) == Role.CURATOR


def test_in_the_sandbox_the_link_leads_to_the_phones(
    settings: LazySettings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.TELEGRAM_API_URL = "http://127.0.0.1:8081/"

    call_command("link_chat", role=["curator"])

    assert "curator   http://127.0.0.1:8081/?start=" in capsys.readouterr().out


def test_a_refused_token_is_named_as_the_setting(real_bot: LazySettings) -> None:
    real_bot.TELEGRAM_BOT_TOKEN = "4096:another-" + "A" * 30

    with pytest.raises(CommandError, match="refuses TELEGRAM_BOT_TOKEN"):
        call_command("link_chat")


def test_a_telegram_out_of_reach_is_said_so(real_bot: LazySettings) -> None:
    real_bot.TELEGRAM_API_URL = f"http://127.0.0.1:{ports.free()}"

    with pytest.raises(CommandError, match="cannot be reached"):
        call_command("link_chat")


def test_a_telegram_that_hangs_is_waited_for_ten_seconds(real_bot: LazySettings, telegram: SandboxProcess) -> None:
    telegram.post("/control/faults", [{"method": "getMe", "fault": {"hang": 60}}])

    with pytest.raises(CommandError, match="cannot be reached"):
        call_command("link_chat")
