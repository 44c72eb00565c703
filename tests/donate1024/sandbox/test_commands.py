"""The commands of each scope, refused in Telegram's words."""

from pathlib import Path
from typing import Any

import pytest
from telegram import Bot, BotCommandScopeChat

from tests.donate1024.sandbox.conftest import Api, call, open_chat
from tests.sandbox_process import SandboxProcess

STATUS = [{"command": "status", "description": "2026-11-30 1 300"}]


async def test_commands_are_kept_by_scope_and_language(shared: SandboxProcess, bot: Bot, chat: int) -> None:
    scope = BotCommandScopeChat(chat)

    await bot.set_my_commands([("start", "Почати")], language_code="uk")
    await bot.set_my_commands([("status", "2026-11-30 1 300")], scope=scope)

    assert [command.description for command in await bot.get_my_commands(scope=scope)] == ["2026-11-30 1 300"]
    assert [command.command for command in await bot.get_my_commands(language_code="uk")] == ["start"]
    assert await bot.get_my_commands() == ()
    await bot.delete_my_commands(scope=scope)
    assert await bot.get_my_commands(scope=scope) == ()


def test_a_command_is_kept_trimmed(api: Api, chat: int) -> None:
    scope = {"type": "chat", "chat_id": chat}

    api("setMyCommands", commands=[{"command": " /status ", "description": f"  {'х' * 256}\n"}], scope=scope)

    assert api("getMyCommands", scope=scope)[1]["result"] == [{"command": "status", "description": "х" * 256}]


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        ({"commands": "{"}, "can't parse commands JSON object"),
        ({"commands": [{"command": "Start", "description": "x"}]}, "BOT_COMMAND_INVALID"),
        ({"commands": [{"command": "", "description": "x"}]}, "command must be non-empty"),
        ({"commands": [{"command": "a" * 33, "description": "x"}]}, "command length must not exceed 32"),
        ({"commands": [{"command": "a", "description": " "}]}, "command description must be non-empty"),
        (
            {"commands": [{"command": "a", "description": "х" * 257}]},
            "command description length must not exceed 256",
        ),
        ({"commands": [{"command": "x", "description": "x"}] * 101}, "BOT_COMMANDS_TOO_MUCH"),
        ({"commands": STATUS, "scope": {"type": "chat", "chat_id": 999_999}}, "chat not found"),
        ({"commands": STATUS, "scope": {"type": "chat"}}, "chat_id is empty"),
        (
            {"commands": STATUS, "scope": {"type": "everyone"}},
            "can't parse BotCommandScope: Unsupported type specified",
        ),
        ({"commands": STATUS, "language_code": "ukr"}, "invalid language code specified"),
    ],
)
def test_bad_commands_are_refused(api: Api, fields: dict[str, Any], description: str) -> None:
    assert api("setMyCommands", **fields)[1]["description"] == f"Bad Request: {description}"


@pytest.mark.parametrize(
    ("chat", "kind", "description"),
    [
        ({"state": "new"}, "chat", "Bad Request: chat not found"),
        ({"state": "absent"}, "chat", "Bad Request: chat not found"),
        ({}, "chat_administrators", "Bad Request: can't use specified scope in private chats"),
        ({"type": "channel"}, "chat", "Bad Request: can't change commands in channel chats"),
        ({"type": "group", "state": "blocked"}, "chat", "Forbidden: bot was kicked from the group chat"),
        ({"state": "blocked"}, "chat", None),
        ({"type": "supergroup"}, "chat", None),
    ],
)
def test_a_scope_is_a_chat_that_the_bot_has_met(
    shared: SandboxProcess, api: Api, chat: dict[str, Any], kind: str, description: str | None
) -> None:
    scope = {"type": kind, "chat_id": open_chat(shared, **chat)}

    assert api("setMyCommands", commands=STATUS, scope=scope)[1].get("description") == description
    assert api("getMyCommands", scope=scope)[1].get("description") == description


def test_commands_fail_where_a_test_wants_it_and_outlive_a_restart(tmp_path: Path, sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1}, {"chat_id": 2}])
    sandbox.post("/control/faults", [{"fault": {"status": 502}, "method": "setMyCommands", "chat_id": 1}])
    first, second = ({"type": "chat", "chat_id": chat_id} for chat_id in (1, 2))

    statuses = [call(sandbox.url, "setMyCommands", commands=STATUS, scope=scope)[0] for scope in (first, second)]
    sandbox.kill()
    sandbox.start()

    assert statuses == [502, 200]
    assert call(sandbox.url, "getMyCommands", scope=first)[1]["result"] == []
    assert call(sandbox.url, "getMyCommands", scope=second)[1]["result"] == STATUS
