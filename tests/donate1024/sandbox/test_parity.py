"""The sandbox and a stand-in written by others answer the same calls of python-telegram-bot alike.

Where they differ, ours is the stricter, as Telegram is: the emulator reads no HTML (`parse_mode` is left out here),
answers any callback id, forgets commands (getMyCommands is always empty), gives a sent text no entities, no sender and
no caption_entities, and ends the *second* of two polls with 409 where Telegram ends the first. It has no chats and no
flood of its own: it refuses what a test tells it to, as ours does by its chats' states and its faults.
"""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from lo_bot_api_emulator import ApiRefusal
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, Message
from telegram.error import TelegramError

from donate1024.sandbox import TOKEN, Json
from tests import telegram_peer
from tests.donate1024.sandbox.conftest import picture
from tests.sandbox_process import SandboxProcess
from tests.telegram_peer import TelegramPeer

BUTTONS = InlineKeyboardMarkup(
    [[InlineKeyboardButton("50 ₴", url="https://x.ua/?a=50"), InlineKeyboardButton("Так", callback_data="yes")]]
)
OLIA: Json = {"id": 1, "is_bot": False, "first_name": "Оля <3", "language_code": "uk"}


class Side(Protocol):
    """What both have, each in its way."""

    url: str

    def say(self, text: str) -> None: ...
    def press(self, message: Message, data: str) -> None: ...
    def fail(self, name: str) -> None: ...


class Sandbox:
    def __init__(self, state: Path) -> None:
        self.process = SandboxProcess(state)
        self.url = self.process.url
        self.process.post(
            "/control/chats", [{"chat_id": 1, "first_name": "Оля <3"}, {"chat_id": -4500, "type": "group"}]
        )

    def say(self, text: str) -> None:
        self.process.post("/control/say", {"chat_id": 1, "text": text})

    def press(self, message: Message, data: str) -> None:
        self.process.post("/control/press", {"chat_id": 1, "message_id": message.message_id, "data": data})

    def fail(self, name: str) -> None:
        faults = {"flood": {"status": 429, "retry_after": 7}, "server error": {"status": 500}}
        if name in {"blocked", "deactivated", "absent"}:
            self.process.post("/control/chats", [{"chat_id": 1, "state": name}])
        elif name == "migrated":
            self.process.post("/control/chats", [{"chat_id": 1, "migrated_to": -1005}])
        else:
            self.process.post("/control/faults", [{"chat_id": 1, "fault": faults.get(name, name)}])


class Peer:
    def __init__(self) -> None:
        self.peer = TelegramPeer().__enter__()
        self.url = self.peer.url

    def say(self, text: str) -> None:
        message = {"message_id": 500, "date": 1, "chat": {"id": 1, "type": "private"}, "from": OLIA, "text": text}
        self.peer.push({"message": message}, TOKEN)

    def press(self, message: Message, data: str) -> None:
        query = {"id": "77", "from": OLIA, "chat_instance": "1", "data": data, "message": message.to_dict()}
        self.peer.push({"callback_query": query}, TOKEN)

    def fail(self, name: str) -> None:
        refusals = {
            "blocked": telegram_peer.BLOCKED,
            "deactivated": telegram_peer.DEACTIVATED,
            "absent": ApiRefusal("Bad Request: chat not found"),
            "migrated": telegram_peer.migrated(-1005),
            "flood": telegram_peer.flood(7),
            "server error": ApiRefusal("Internal Server Error", 500),
        }
        self.peer.faults["sendMessage", 1].append(refusals.get(name, name))


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[list[Side]]:
    ours, theirs = Sandbox(tmp_path), Peer()
    yield [ours, theirs]
    ours.process.kill()
    theirs.peer.__exit__()


async def on_both(sides: list[Side], story: Callable[[Side, Bot], Awaitable[Any]]) -> list[Any]:
    """What the story returns on each side."""
    results = []
    for side in sides:
        async with Bot(TOKEN, base_url=f"{side.url}/bot") as bot:
            results.append(await story(side, bot))
    return results


async def refusal(call: Awaitable[Any]) -> tuple[type[TelegramError], str]:
    try:
        await call
    except TelegramError as error:
        return type(error), str(error)
    pytest.fail("it was taken")


def seen(message: Any) -> Json:
    """What both tell of a message, whatever numbers they give."""
    assert isinstance(message, Message)
    return {
        "type": message.chat.type,
        "chat_id": message.chat_id,
        "text": message.text,
        "caption": message.caption,
        "photos": bool(message.photo),
        "buttons": message.reply_markup,
    }


async def test_texts_photos_and_edits_come_back_alike(sides: list[Side]) -> None:
    async def story(side: Side, bot: Bot) -> list[Any]:
        text = await bot.send_message(1, "Оля <3 & 🚑", reply_markup=BUTTONS, disable_notification=True)
        photo = await bot.send_photo(1, picture(), caption="збір")
        again = await bot.send_photo(1, photo.photo[-1].file_id, caption="ще раз")
        edited = await bot.edit_message_text("інше", 1, text.message_id, reply_markup=BUTTONS)
        bare = await bot.edit_message_text("без кнопок", 1, text.message_id)
        caption = await bot.edit_message_caption(1, again.message_id, caption="третє")
        assert len({text.message_id, photo.message_id, again.message_id}) == 3
        assert again.photo[-1].file_id == photo.photo[-1].file_id
        answers = [seen(text), seen(photo), seen(edited), seen(bare), seen(caption)["caption"]]
        return [*answers, await bot.delete_message(1, text.message_id)]

    ours, theirs = await on_both(sides, story)

    assert ours == theirs


async def test_updates_are_confirmed_alike(sides: list[Side]) -> None:
    async def story(side: Side, bot: Bot) -> list[Any]:
        for text in ("/start", "1", "2"):
            side.say(text)
        first = await bot.get_updates(limit=1, timeout=5)
        rest = await bot.get_updates(offset=first[0].update_id + 1, allowed_updates=["message", "callback_query"])
        none = await bot.get_updates(offset=rest[-1].update_id + 1, timeout=1)
        return [[update.message and update.message.text for update in batch] for batch in (first, rest, none)]

    ours, theirs = await on_both(sides, story)

    assert ours == theirs == [["/start"], ["1", "2"], []]


async def test_a_pressed_button_arrives_and_is_answered_alike(sides: list[Side]) -> None:
    async def story(side: Side, bot: Bot) -> list[Any]:
        sent = await bot.send_message(1, "Згода?", reply_markup=BUTTONS)
        side.press(sent, "yes")
        (update,) = await bot.get_updates(timeout=5)
        query = update.callback_query
        assert query is not None
        assert query.message is not None
        assert query.message.message_id == sent.message_id
        return [query.data, query.from_user.id, await query.answer("Дякуємо")]

    ours, theirs = await on_both(sides, story)

    assert ours == theirs == ["yes", 1, True]


@pytest.mark.parametrize(
    "fault", ["blocked", "deactivated", "absent", "migrated", "flood", "server error", "drop", "drop_after"]
)
async def test_a_failure_is_the_same_error(sides: list[Side], fault: str) -> None:
    async def story(side: Side, bot: Bot) -> Any:
        side.fail(fault)
        return await refusal(bot.send_message(1, "x"))

    ours, theirs = await on_both(sides, story)

    assert ours == theirs


async def test_a_hanging_call_is_the_same_error(sides: list[Side]) -> None:
    async def story(side: Side, bot: Bot) -> Any:
        if isinstance(side, Sandbox):
            side.process.post("/control/faults", [{"chat_id": 1, "fault": {"hang": 30}}])
        else:
            side.fail("hang")
        return await refusal(bot.send_message(1, "x", read_timeout=0.3))

    ours, theirs = await on_both(sides, story)

    assert ours == theirs


@pytest.mark.parametrize(
    "call",
    [
        lambda bot: bot.send_message(1, " "),
        lambda bot: bot.send_message(1, "ї" * 4097),
        lambda bot: bot.send_message(0, "x"),
        lambda bot: bot.send_photo(1, "AgACAgI"),
    ],
    ids=["empty", "too long", "no chat", "no file"],
)
async def test_bad_content_is_the_same_refusal(sides: list[Side], call: Callable[[Bot], Awaitable[Any]]) -> None:
    async def story(side: Side, bot: Bot) -> Any:
        return await refusal(call(bot))

    ours, theirs = await on_both(sides, story)

    assert ours == theirs


async def test_a_webhook_conflicts_alike(sides: list[Side]) -> None:
    async def story(side: Side, bot: Bot) -> Any:
        await bot.set_webhook("https://example.org/hook")
        error, _ = await refusal(bot.get_updates())
        info = await bot.get_webhook_info()
        await bot.delete_webhook()
        return error, info.url, await bot.get_updates()

    ours, theirs = await on_both(sides, story)

    assert ours == theirs
