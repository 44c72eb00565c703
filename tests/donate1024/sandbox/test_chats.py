"""To whom the bot may write, and who the bot is."""

from typing import Any

import pytest
from telegram import Bot
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


async def test_a_description_has_its_limit(bot: Bot) -> None:
    assert await bot.set_my_short_description("Один збір щоранку")
    assert await bot.set_my_description("х" * 512)
    with pytest.raises(BadRequest):
        await bot.set_my_description("х" * 513)


async def test_a_group_that_was_upgraded_sends_its_writers_on(shared: SandboxProcess, bot: Bot) -> None:
    old = open_chat(shared, type="group", first_name="Хор")

    new = shared.post("/control/upgrade", {"chat_id": old})["chat_id"]

    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(old, "x")
    assert moved.value.new_chat_id == new
    assert (await bot.send_message(new, "x")).chat.title == "Хор"
    with pytest.raises(SandboxError, match="400"):
        shared.post("/control/upgrade", {"chat_id": old})
