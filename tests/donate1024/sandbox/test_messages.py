"""Sending, editing, deleting: what is taken, what comes back, what is refused."""

import io
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest

from donate1024.sandbox import TOKEN
from tests.donate1024.sandbox.conftest import Api, call, picture
from tests.sandbox_process import SandboxProcess

DONATE = InlineKeyboardMarkup([[InlineKeyboardButton("Підтримати", url="https://x.ua/jar")]])


async def test_a_text_comes_back_with_its_entities_and_buttons(bot: Bot, chat: int) -> None:
    message = await bot.send_message(chat, "<b>🚑 Збір</b> &lt;3", parse_mode="HTML", reply_markup=DONATE)

    assert (message.text, message.parse_entities()) == ("🚑 Збір <3", {message.entities[0]: "🚑 Збір"})
    assert (message.chat_id, message.reply_markup, message.from_user and message.from_user.id) == (chat, DONATE, 1024)


async def test_the_ledger_tells_what_was_sent(bot: Bot, chat: int, shared: SandboxProcess) -> None:
    sent = await bot.send_photo(chat, picture(), "<i>так</i>", parse_mode="HTML", reply_markup=DONATE)

    (entry,) = shared.sent_to(chat)
    assert {name: entry[name] for name in ("method", "message_id", "text", "html", "uploaded", "status")} == {
        "method": "sendPhoto",
        "message_id": sent.message_id,
        "text": "так",
        "html": "<i>так</i>",
        "uploaded": True,
        "status": 200,
    }
    assert (entry["photo"], entry["reply_markup"]) == (sent.photo[-1].file_id, DONATE.to_dict())
    assert abs(entry["at"] - sent.date.timestamp()) < 2


def test_the_ledger_can_be_thinned_out(shared: SandboxProcess, api: Api, chat: int) -> None:
    api("sendMessage", chat_id=chat, text="x")

    entries = shared.get(f"/control/ledger?method=sendMessage&chat_id={chat}&fields=chat_id,text")

    assert entries == [{"chat_id": chat, "text": "x"}]


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        ({"text": ""}, "message text is empty"),
        ({"text": " \n "}, "message text is empty"),
        ({"text": "<b></b>", "parse_mode": "HTML"}, "message text is empty"),
        ({"text": "ї" * 4097}, "message is too long"),
        ({"text": "</b>", "parse_mode": "html"}, "can't parse entities: Unexpected end tag at byte offset 0"),
        ({"text": "x", "parse_mode": "Rich"}, "unsupported parse_mode"),
        ({"text": "x", "parse_mode": "MarkdownV2"}, "the sandbox reads no parse_mode but HTML"),
        ({"text": "x", "reply_markup": "{"}, "can't parse reply keyboard markup JSON object"),
        ({"text": "x", "txet": "y"}, 'the sandbox knows no parameter "txet" of sendMessage'),
        ({"text": "x", "chat_id": ""}, "chat_id is empty"),
        ({"text": "x", "chat_id": "somebody"}, "chat not found"),
    ],
)  # fmt: skip
def test_a_bad_text_is_refused(api: Api, chat: int, fields: dict[str, Any], description: str) -> None:
    status, body = api("sendMessage", **{"chat_id": chat} | fields)

    assert (status, body["description"]) == (400, f"Bad Request: {description}")


def test_a_text_is_counted_without_its_markup(api: Api, chat: int) -> None:
    html = f"<a href='https://x.ua/'>{'&lt;' * 4036}</a>{'🚑' * 60}"

    status, body = api("sendMessage", chat_id=chat, text=html, parse_mode="HTML")

    assert (status, len(body["result"]["text"])) == (200, 4096)


def test_a_caption_may_have_1024_characters(api: Api, chat: int, file_id: str) -> None:
    taken, _ = api("sendPhoto", chat_id=chat, photo=file_id, caption="<b>" + "ї" * 1024 + "</b>", parse_mode="HTML")
    refused, body = api("sendPhoto", chat_id=chat, photo=file_id, caption="ї" * 1025)

    assert (taken, refused, body["description"]) == (200, 400, "Bad Request: message caption is too long")


@pytest.fixture
async def file_id(bot: Bot, chat: int) -> str:
    return (await bot.send_photo(chat, picture())).photo[-1].file_id


async def test_a_photo_is_sent_again_by_its_file_id(bot: Bot, chat: int, shared: SandboxProcess) -> None:
    first = await bot.send_photo(chat, picture(800, 400))
    again = await bot.send_photo(chat, first.photo[-1].file_id, "ще раз")

    assert again.photo == first.photo
    assert [(size.width, size.height) for size in again.photo] == [(320, 160), (800, 400)]
    assert [entry["uploaded"] for entry in shared.sent_to(chat)] == [True, False]


async def test_the_uploaded_bytes_are_kept(tmp_path: Path, sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1}])

    async with Bot(TOKEN, base_url=f"{sandbox.url}/bot") as bot:
        await bot.send_photo(1, picture(kind="PNG"))

    (file,) = (tmp_path / "sandbox" / "files").iterdir()
    assert file.read_bytes() == picture(kind="PNG")


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"no picture", "IMAGE_PROCESS_FAILED"),
        (picture(9000, 1001), "PHOTO_INVALID_DIMENSIONS"),
        (picture(21, 1), "PHOTO_INVALID_DIMENSIONS"),
        (b"", "there is no photo in the request"),
        (picture() + bytes(10 * 1024 * 1024), "file of size"),
    ],
)
async def test_a_bad_photo_is_refused(bot: Bot, chat: int, content: bytes, description: str) -> None:
    with pytest.raises(BadRequest) as refused:
        await bot.send_photo(chat, io.BytesIO(content))

    assert description.lower() in str(refused.value).lower()


def test_a_photo_that_is_no_file_id_is_refused(api: Api, chat: int) -> None:
    for photo in ("AgACAgI", "https://x.ua/y.jpg"):
        _, body = api("sendPhoto", chat_id=chat, photo=photo)
        assert body["description"] == "Bad Request: wrong file identifier/HTTP URL specified"


async def test_a_file_id_belongs_to_one_bot(tmp_path: Path) -> None:
    token = "2048:" + "b" * 35
    with SandboxProcess(tmp_path, tokens=[token]) as sandbox:
        sandbox.post("/control/chats", [{"chat_id": 1}])
        async with Bot(TOKEN, base_url=f"{sandbox.url}/bot") as bot, Bot(token, base_url=f"{sandbox.url}/bot") as other:
            file_id = (await bot.send_photo(1, picture())).photo[-1].file_id

            await bot.send_photo(1, file_id)
            with pytest.raises(BadRequest, match="Wrong file identifier"):
                await other.send_photo(1, file_id)


async def test_a_text_is_edited_and_loses_its_buttons(bot: Bot, chat: int) -> None:
    sent = await bot.send_message(chat, "x", reply_markup=DONATE)

    edited = await bot.edit_message_text("<b>y</b>", chat, sent.message_id, parse_mode="HTML")

    assert not isinstance(edited, bool)
    assert (edited.text, edited.reply_markup, edited.message_id) == ("y", None, sent.message_id)
    assert edited.edit_date is not None


async def test_a_caption_and_a_keyboard_are_edited(bot: Bot, chat: int, file_id: str) -> None:
    sent = await bot.send_photo(chat, file_id, "x")

    await bot.edit_message_caption(chat, sent.message_id, caption="y")
    edited = await bot.edit_message_reply_markup(chat, sent.message_id, reply_markup=DONATE)

    assert not isinstance(edited, bool)
    assert (edited.caption, edited.reply_markup) == ("y", DONATE)


def test_bad_edits_are_refused(api: Api, shared: SandboxProcess, chat: int, file_id: str) -> None:
    text = api("sendMessage", chat_id=chat, text="x")[1]["result"]["message_id"]
    photo = api("sendPhoto", chat_id=chat, photo=file_id)[1]["result"]["message_id"]
    theirs = shared.post("/control/say", {"chat_id": chat, "text": "x"})["message_id"]

    def refusal(name: str, message_id: int, **fields: str) -> str:
        description: str = api(name, chat_id=chat, message_id=message_id, **fields)[1]["description"]
        return description.removeprefix("Bad Request: ")

    assert refusal("editMessageText", text, text="x").startswith("message is not modified: specified new message")
    assert refusal("editMessageText", 10**6, text="y") == "message to edit not found"
    assert refusal("editMessageText", theirs, text="y") == "message can't be edited"
    assert refusal("editMessageText", photo, text="y") == "there is no text in the message to edit"
    assert refusal("editMessageCaption", text, caption="y") == "there is no caption in the message to edit"


def test_a_message_is_deleted_once(api: Api, shared: SandboxProcess, chat: int) -> None:
    message_id = api("sendMessage", chat_id=chat, text="x")[1]["result"]["message_id"]

    assert api("deleteMessage", chat_id=chat, message_id=message_id) == (200, {"ok": True, "result": True})
    assert api("deleteMessage", chat_id=chat, message_id=message_id)[1]["description"] == (
        "Bad Request: message to delete not found"
    )
    assert shared.get(f"/control/phone/{chat}")["messages"] == []


def test_a_message_of_two_days_ago_cannot_be_deleted(tmp_path: Path, sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1}])
    _, sent = call(sandbox.url, "sendMessage", chat_id=1, text="x")
    (tmp_path / "clock-offset").write_text(str(48 * 3600 + 60))

    _, body = call(sandbox.url, "deleteMessage", chat_id=1, message_id=sent["result"]["message_id"])

    assert body["description"] == "Bad Request: message can't be deleted for everyone"


async def test_parameters_may_come_as_json(shared: SandboxProcess, chat: int) -> None:
    given = {"chat_id": chat, "text": "x", "reply_markup": DONATE.to_dict(), "disable_notification": True}
    address = f"{shared.url}/bot{TOKEN}/sendmessage?protect_content=true"
    async with aiohttp.ClientSession() as session, session.post(address, json=given) as answer:
        body = await answer.json()

    assert (answer.status, body["result"]["reply_markup"]) == (200, DONATE.to_dict())


async def test_broken_json_is_refused(shared: SandboxProcess) -> None:
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session:
        for content in (b"{", b"[]", b'{"text": "\\ud800"}'):
            address = f"{shared.url}/bot{TOKEN}/sendMessage"
            async with session.post(address, data=content, headers=headers) as answer:
                assert answer.status == 400
