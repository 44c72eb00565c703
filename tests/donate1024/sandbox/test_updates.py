"""What people do, and how the bot hears of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.error import BadRequest, Conflict

from donate1024.sandbox import TOKEN
from tests.donate1024.sandbox.conftest import call, picture
from tests.sandbox_process import SandboxError, SandboxProcess

ASKING = InlineKeyboardMarkup([[InlineKeyboardButton("Так", callback_data="yes")]])


@pytest.fixture
async def listener(sandbox: SandboxProcess) -> AsyncIterator[Bot]:
    sandbox.post("/control/chats", [{"chat_id": 1, "first_name": "Оля <3", "username": "olia"}])
    async with Bot(TOKEN, base_url=f"{sandbox.url}/bot") as bot:
        yield bot


@pytest.fixture
async def rival(sandbox: SandboxProcess) -> AsyncIterator[Bot]:
    """The same bot in a second process."""
    async with Bot(TOKEN, base_url=f"{sandbox.url}/bot") as bot:
        yield bot


def say(sandbox: SandboxProcess, *texts: str) -> None:
    for text in texts:
        sandbox.post("/control/say", {"chat_id": 1, "text": text})


async def until_polled(sandbox: SandboxProcess) -> None:
    while not any(entry["method"] == "getUpdates" for entry in sandbox.get("/control/calls")):  # noqa: ASYNC110 - in another process
        await asyncio.sleep(0.05)


def texts(updates: tuple[Update, ...]) -> list[str | None]:
    return [update.message.text for update in updates if update.message]


async def test_what_a_person_writes_arrives_as_telegram_tells_it(sandbox: SandboxProcess, listener: Bot) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1, "state": "new"}])
    say(sandbox, "/start")

    (update,) = await listener.get_updates()

    assert update.message is not None
    assert update.message.from_user is not None
    assert (update.message.from_user.first_name, update.message.from_user.language_code) == ("Оля <3", "uk")
    assert list(update.message.parse_entities(["bot_command"]).values()) == ["/start"]
    assert (await listener.send_message(1, "вітаємо")).text == "вітаємо"


async def test_updates_come_until_they_are_confirmed(sandbox: SandboxProcess, listener: Bot) -> None:
    say(sandbox, "1", "2", "3")

    first = await listener.get_updates(limit=2)
    again = await listener.get_updates()
    rest = await listener.get_updates(offset=first[-1].update_id + 1)

    assert (texts(first), texts(again), texts(rest)) == (["1", "2"], ["1", "2", "3"], ["3"])
    assert texts(await listener.get_updates()) == ["3"]


async def test_a_negative_offset_leaves_the_last(sandbox: SandboxProcess, listener: Bot) -> None:
    say(sandbox, "1", "2", "3")

    assert texts(await listener.get_updates(offset=-1)) == ["3"]
    assert texts(await listener.get_updates()) == ["3"]


async def test_a_poll_waits_for_the_next_update(sandbox: SandboxProcess, listener: Bot) -> None:
    poll = asyncio.create_task(listener.get_updates(timeout=20))
    await until_polled(sandbox)

    say(sandbox, "1")

    assert texts(await asyncio.wait_for(poll, 10)) == ["1"]


async def test_a_poll_ends_after_its_time(listener: Bot) -> None:
    assert await asyncio.wait_for(listener.get_updates(timeout=1), 15) == ()


async def test_only_the_kinds_asked_for_arrive(sandbox: SandboxProcess, listener: Bot) -> None:
    await listener.get_updates(allowed_updates=["my_chat_member"])
    say(sandbox, "1")
    sandbox.post("/control/block", {"chat_id": 1})

    updates = await listener.get_updates()

    assert [bool(update.my_chat_member) for update in updates] == [True]


async def test_a_second_poll_ends_the_first(sandbox: SandboxProcess, listener: Bot, rival: Bot) -> None:
    first = asyncio.create_task(listener.get_updates(timeout=20))
    await until_polled(sandbox)
    second = asyncio.create_task(rival.get_updates(timeout=20))

    with pytest.raises(Conflict, match="terminated by other getUpdates request"):
        await asyncio.wait_for(first, 10)
    say(sandbox, "1")
    assert texts(await second) == ["1"]


async def test_a_webhook_conflicts_with_polling(sandbox: SandboxProcess, listener: Bot) -> None:
    poll = asyncio.create_task(listener.get_updates(timeout=20))
    await until_polled(sandbox)
    await listener.set_webhook("https://example.org/hook")

    with pytest.raises(Conflict, match="terminated by setWebhook"):
        await poll
    with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active"):
        await listener.get_updates()
    say(sandbox, "1")
    info = await listener.get_webhook_info()
    assert (info.url, info.pending_update_count) == ("https://example.org/hook", 1)

    await listener.delete_webhook(drop_pending_updates=True)

    assert await listener.get_updates() == ()
    with pytest.raises(BadRequest, match="https"):
        await listener.set_webhook("http://example.org/hook")


async def test_blocking_and_unblocking_are_told(sandbox: SandboxProcess, listener: Bot) -> None:
    for act in ("block", "block", "unblock", "unblock"):  # the second of each changes nothing
        sandbox.post(f"/control/{act}", {"chat_id": 1})

    changes = [update.my_chat_member for update in await listener.get_updates()]

    assert [
        (change.old_chat_member.status, change.new_chat_member.status, change.new_chat_member.user.id)
        for change in changes
        if change
    ] == [("member", "kicked", 1024), ("kicked", "member", 1024)]
    assert (await listener.send_message(1, "x")).text == "x"


async def test_a_pressed_button_is_answered_once(sandbox: SandboxProcess, listener: Bot) -> None:
    sent = await listener.send_message(1, "Згода?", reply_markup=ASKING)
    sandbox.post("/control/press", {"chat_id": 1, "message_id": sent.message_id, "data": "yes"})

    (update,) = await listener.get_updates()
    query = update.callback_query

    assert query is not None
    assert (query.data, query.message and query.message.message_id) == ("yes", sent.message_id)
    assert await query.answer("Дякуємо", show_alert=True)
    with pytest.raises(BadRequest, match="Query is too old and response timeout expired or query id is invalid"):
        await query.answer()
    assert sandbox.get("/control/phone/1")["answer"]["text"] == "Дякуємо"


@pytest.mark.parametrize(
    ("act", "given"),
    [
        ("press", {"message_id": 1, "data": "no"}),
        ("press", {"message_id": 99, "data": "yes"}),
        ("say", {"text": "x", "chat_id": 2}),
        ("block", {"chat_id": 3}),
        ("say", {"text": "x", "chat_id": 4}),
    ],
)
async def test_what_nobody_can_do_is_refused(
    sandbox: SandboxProcess, listener: Bot, act: str, given: dict[str, object]
) -> None:
    await listener.send_message(1, "Згода?", reply_markup=ASKING)
    sandbox.post("/control/chats", [{"chat_id": 2, "state": "blocked"}, {"chat_id": 3, "state": "deactivated"}])

    with pytest.raises(SandboxError, match="400"):
        sandbox.post(f"/control/{act}", {"chat_id": 1, **given})


def test_an_upgrade_is_told_in_both_groups(sandbox: SandboxProcess) -> None:
    call(sandbox.url, "getUpdates", allowed_updates=["message", "my_chat_member"])
    sandbox.post("/control/chats", [{"chat_id": -4500, "type": "group", "first_name": "Хор"}])

    new = sandbox.post("/control/upgrade", {"chat_id": -4500})["chat_id"]

    away, here, joined = call(sandbox.url, "getUpdates")[1]["result"]
    assert (away["message"]["chat"]["id"], away["message"]["migrate_to_chat_id"]) == (-4500, new)
    assert (here["message"]["chat"]["id"], here["message"]["migrate_from_chat_id"]) == (new, -4500)
    assert here["message"]["chat"]["type"] == joined["my_chat_member"]["chat"]["type"] == "supergroup"
    assert joined["my_chat_member"]["new_chat_member"]["status"] == "member"


def test_a_group_removes_the_bot(sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": -4500, "type": "group"}])

    sandbox.post("/control/block", {"chat_id": -4500})

    (removed,) = call(sandbox.url, "getUpdates")[1]["result"]
    assert removed["my_chat_member"]["chat"]["type"] == "group"
    assert removed["my_chat_member"]["new_chat_member"]["status"] == "kicked"


def test_any_update_can_be_put_into_the_queue(sandbox: SandboxProcess) -> None:
    sandbox.post("/control/update", {"poll": {"strange": True}})
    for _ in range(2):
        sandbox.post("/control/update", {"poll": {"strange": True}, "update_id": 7})

    _, body = call(sandbox.url, "getUpdates")

    assert [update["update_id"] for update in body["result"]] == [100_000_001, 7, 7]


async def test_a_restart_forgets_nothing(tmp_path: Path, sandbox: SandboxProcess, listener: Bot) -> None:
    sent = await listener.send_photo(1, picture(), "x", reply_markup=ASKING)
    say(sandbox, "1", "2")
    (first, _) = await listener.get_updates()
    await listener.get_updates(offset=first.update_id + 1)
    sandbox.post("/control/press", {"chat_id": 1, "message_id": sent.message_id, "data": "yes"})
    await listener.set_my_commands([("start", "Почати")])
    before = sandbox.get("/control/ledger"), sandbox.get("/control/phone/1"), sandbox.get("/control/chats")

    sandbox.kill()
    with (tmp_path / "sandbox" / "ledger.jsonl").open("a") as journal:
        journal.write('{"event": "call", "half')
    sandbox.start()

    assert (sandbox.get("/control/ledger"), sandbox.get("/control/phone/1"), sandbox.get("/control/chats")) == before
    unread, pressed = await listener.get_updates()
    assert (texts((unread,)), pressed.callback_query and await pressed.callback_query.answer()) == (["2"], True)
    assert [command.command for command in await listener.get_my_commands()] == ["start"]
    again = await listener.send_photo(1, sent.photo[-1].file_id)
    assert again.message_id > sent.message_id
    sandbox.kill()
    sandbox.start()
    assert sandbox.sent_to(1)[-1]["message_id"] == again.message_id
