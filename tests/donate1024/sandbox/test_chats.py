"""To whom the bot may write, and who the bot is."""

from typing import Any

import pytest
from telegram import Bot, BotCommandScopeChat
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken

from donate1024.sandbox import TOKEN
from tests.donate1024.sandbox.conftest import Api, call, open_chat
from tests.sandbox_process import SandboxError, SandboxProcess


@pytest.mark.parametrize(
    ("chat", "status", "description"),
    [
        ({"state": "blocked"}, 403, "Forbidden: bot was blocked by the user"),
        ({"state": "blocked", "type": "group"}, 403, "Forbidden: bot was kicked from the group chat"),
        ({"state": "blocked", "type": "supergroup"}, 403, "Forbidden: bot was kicked from the supergroup chat"),
        ({"state": "blocked", "type": "channel"}, 403, "Forbidden: bot was kicked from the channel chat"),
        ({"state": "deactivated"}, 403, "Forbidden: user is deactivated"),
        ({"state": "new"}, 403, "Forbidden: bot can't initiate conversation with a user"),
        ({"state": "absent"}, 400, "Bad Request: chat not found"),
    ],
)
def test_a_chat_that_is_not_open_refuses(
    shared: SandboxProcess, api: Api, chat: dict[str, Any], status: int, description: str
) -> None:
    chat_id = open_chat(shared, **chat)

    for name, fields in [("sendMessage", {"text": "x"}), ("sendChatAction", {"action": "typing"})]:
        answer, body = api(name, chat_id=chat_id, **fields)
        assert (answer, body["error_code"], body["description"]) == (status, status, description)
    assert shared.sent_to(chat_id) == []


async def test_the_library_understands_the_refusals(shared: SandboxProcess, bot: Bot) -> None:
    with pytest.raises(Forbidden):
        await bot.send_message(open_chat(shared, state="blocked"), "x")
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_message(999_999, "x")
    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(open_chat(shared, type="group", migrated_to=-1002471352452), "x")
    assert moved.value.new_chat_id == -1002471352452


async def test_a_channel_is_found_by_its_name(shared: SandboxProcess, bot: Bot) -> None:
    chat_id = open_chat(shared, type="channel", username="Zbory", first_name="Збори")

    message = await bot.send_message("@zbory", "x")

    assert (message.chat_id, message.chat.title) == (chat_id, "Збори")


async def test_a_chat_that_blocked_the_bot_can_still_be_looked_at(shared: SandboxProcess, bot: Bot) -> None:
    chat = await bot.get_chat(open_chat(shared, state="blocked", first_name="Оля <3"))

    assert chat.first_name == "Оля <3"


def test_a_part_of_a_chat_is_changed_and_the_rest_stays(shared: SandboxProcess) -> None:
    chat_id = open_chat(shared, first_name="Оля <3")

    shared.post("/control/chats", [{"chat_id": chat_id, "state": "blocked"}])

    (chat,) = [chat for chat in shared.get("/control/chats") if chat["chat_id"] == chat_id]
    assert (chat["first_name"], chat["state"]) == ("Оля <3", "blocked")


@pytest.mark.parametrize("chat", [{"chat_id": "1"}, {"chat_id": 1, "state": "shut"}, {"chat_id": 1, "nme": "x"}, {}])
def test_a_chat_that_makes_no_sense_is_refused(shared: SandboxProcess, chat: Any) -> None:
    with pytest.raises(SandboxError, match="400"):
        shared.post("/control/chats", [chat])


@pytest.mark.parametrize(
    ("token", "name", "status", "description"),
    [
        (TOKEN.replace("a", "b"), "getMe", 401, "Unauthorized"),
        ("1024", "getMe", 404, "Not Found"),
        (TOKEN, "sendMesage", 404, "Not Found"),
        (TOKEN, "GETME", 200, None),
    ],
)
def test_only_known_bots_and_methods_are_served(
    shared: SandboxProcess, token: str, name: str, status: int, description: str | None
) -> None:
    answer, body = call(shared.url, name, token)

    assert (answer, body.get("description")) == (status, description)


async def test_the_library_takes_a_wrong_token_for_one(shared: SandboxProcess) -> None:
    with pytest.raises(InvalidToken):
        async with Bot("2048:" + "b" * 35, base_url=f"{shared.url}/bot"):
            pass


async def test_commands_are_kept_by_scope_and_language(shared: SandboxProcess, bot: Bot, chat: int) -> None:
    scope = BotCommandScopeChat(chat)

    await bot.set_my_commands([("start", "Почати")], language_code="uk")
    await bot.set_my_commands([("status", "2026-11-30 1 300")], scope=scope)

    assert [command.description for command in await bot.get_my_commands(scope=scope)] == ["2026-11-30 1 300"]
    assert [command.command for command in await bot.get_my_commands(language_code="uk")] == ["start"]
    assert await bot.get_my_commands() == ()
    await bot.delete_my_commands(scope=scope)
    assert await bot.get_my_commands(scope=scope) == ()


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        ({"commands": [{"command": "Start", "description": "x"}]}, "BOT_COMMAND_INVALID"),
        ({"commands": [{"command": "start", "description": ""}]}, "BOT_COMMAND_DESCRIPTION_INVALID"),
        ({"commands": [{"command": "x", "description": "x"}] * 101}, "too many commands specified"),
        ({"commands": [], "scope": {"type": "chat", "chat_id": 999_999}}, "chat not found"),
        ({"commands": "{"}, "can't parse commands JSON object"),
    ],
)
def test_bad_commands_are_refused(api: Api, fields: dict[str, Any], description: str) -> None:
    assert api("setMyCommands", **fields)[1]["description"] == f"Bad Request: {description}"


async def test_a_description_has_its_limit(bot: Bot) -> None:
    assert await bot.set_my_short_description("Один збір щоранку")
    assert await bot.set_my_description("х" * 512)
    with pytest.raises(BadRequest):
        await bot.set_my_description("х" * 513)
