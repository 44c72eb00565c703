"""The table of outcomes, row by row, over real HTTP: what Telegram answers, and what is known of the send."""

from datetime import timedelta
from itertools import count

import pytest
from telegram import Bot
from telegram.error import TelegramError

from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    ChatRefused,
    ContentRefused,
    FileUnknown,
    Flooded,
    NotSent,
    OutcomeUnknown,
    RecipientGone,
    TokenRefused,
    as_channel_error,
)
from tests.sandbox_process import SandboxProcess

_chat_ids = count(9001)


async def outcome(bot: Bot, chat_id: int, text: str = "Збір") -> ChannelError:
    with pytest.raises(TelegramError) as caught:
        await bot.send_message(chat_id, text, parse_mode="HTML")
    return as_channel_error(caught.value)


def open_chat(sandbox: SandboxProcess, state: str = "open") -> int:
    chat_id = next(_chat_ids)
    sandbox.post("/control/chats", [{"chat_id": chat_id, "state": state}])
    return chat_id


async def after(bot: Bot, sandbox: SandboxProcess, fault: object) -> ChannelError:
    """What is known after a call that meets the fault."""
    chat_id = open_chat(sandbox)
    sandbox.post("/control/faults", [{"fault": fault, "method": "sendMessage", "chat_id": chat_id}])
    return await outcome(bot, chat_id)


def refusal(status: int, description: str) -> dict[str, object]:
    return {"status": status, "description": description}


async def test_success_raises_nothing(bot: Bot, sandbox: SandboxProcess) -> None:
    message = await bot.send_message(open_chat(sandbox), "Збір")

    assert message.message_id


async def test_too_many_requests_is_flooded_for_as_long_as_telegram_says(bot: Bot, sandbox: SandboxProcess) -> None:
    error = await after(bot, sandbox, {"status": 429, "retry_after": 10_072})

    assert isinstance(error, Flooded)
    assert error.wait == timedelta(seconds=10_072)


@pytest.mark.parametrize(
    ("description", "left_reason"),
    [
        ("Forbidden: bot was blocked by the user", "blocked"),
        ("Forbidden: user is deactivated", "deactivated"),
        ("Forbidden: bot was kicked from the group chat", "blocked"),
        ("Forbidden: bot is not a member of the channel chat", "blocked"),
        ("Forbidden: the group chat was deleted", "unreachable"),
        ("Forbidden: bot can't initiate conversation with a user", ""),
        ("Forbidden: words that nobody has seen before", ""),
    ],
)
async def test_forbidden_is_gone(bot: Bot, sandbox: SandboxProcess, description: str, left_reason: str) -> None:
    error = await after(bot, sandbox, refusal(403, description))

    assert isinstance(error, RecipientGone)
    assert error.left_reason == left_reason


@pytest.mark.parametrize(
    ("state", "left_reason"),
    [("blocked", "blocked"), ("deactivated", "deactivated"), ("absent", "unreachable"), ("new", "")],
)
async def test_the_sandbox_says_it_in_the_same_words(
    bot: Bot, sandbox: SandboxProcess, state: str, left_reason: str
) -> None:
    error = await outcome(bot, open_chat(sandbox, state))

    assert isinstance(error, RecipientGone)
    assert error.left_reason == left_reason


async def test_a_migrated_group_has_moved(bot: Bot, sandbox: SandboxProcess) -> None:
    fault = refusal(400, "Bad Request: group chat was upgraded to a supergroup chat")

    error = await after(bot, sandbox, fault | {"parameters": {"migrate_to_chat_id": -1002471352452}})

    assert isinstance(error, ChatMoved)
    assert error.new_id == -1002471352452
    assert str(error) == "the group became a supergroup"  # the library's own words tell the chat's id


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: can't parse entities: Unsupported start tag",
        "Bad Request: message is too long",
        "Bad Request: MESSAGE_TOO_LONG",
        "Bad Request: message caption is too long",
        "Bad Request: message text is empty",
        "Bad Request: text must be non-empty",
        "Bad Request: ENTITY_BOUNDS_INVALID",
        "Bad Request: inline keyboard button URL 'monobank://jar' is invalid: Unsupported URL protocol",
        "Bad Request: BUTTON_URL_INVALID",
        "Bad Request: PHOTO_INVALID_DIMENSIONS",
        "Bad Request: IMAGE_PROCESS_FAILED",
        "Bad Request: wrong type of the web page content",
        "Bad Request: WEBPAGE_CURL_FAILED",
    ],
)
async def test_what_is_wrong_for_everybody_is_content(bot: Bot, sandbox: SandboxProcess, description: str) -> None:
    assert isinstance(await after(bot, sandbox, refusal(400, description)), ContentRefused)


@pytest.mark.parametrize("text", ["<b>Збір", "<script>Збір</script>", "а" * 4097, " "])
async def test_the_sandbox_refuses_content_in_the_same_words(bot: Bot, sandbox: SandboxProcess, text: str) -> None:
    assert isinstance(await outcome(bot, open_chat(sandbox), text), ContentRefused)


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: wrong file identifier/HTTP URL specified",
        "Bad Request: wrong remote file identifier specified: Wrong string length",
        "Bad Request: wrong file_id or the file is temporarily unavailable",
        "Bad Request: FILE_REFERENCE_EXPIRED",
        "Bad Request: FILE_ID_INVALID",
    ],
)
async def test_an_unknown_handle_is_the_file(bot: Bot, sandbox: SandboxProcess, description: str) -> None:
    assert isinstance(await after(bot, sandbox, refusal(400, description)), FileUnknown)


async def test_a_handle_of_another_bot_is_the_file(bot: Bot, sandbox: SandboxProcess) -> None:
    with pytest.raises(TelegramError) as caught:
        await bot.send_photo(open_chat(sandbox), "AgACAgIAAxkBAAIB")

    assert isinstance(as_channel_error(caught.value), FileUnknown)


async def test_any_other_bad_request_is_about_the_chat(bot: Bot, sandbox: SandboxProcess) -> None:
    fault = refusal(400, "Bad Request: not enough rights to send photos to the chat")

    assert isinstance(await after(bot, sandbox, fault), ChatRefused)


@pytest.mark.parametrize("status", [401, 404])
async def test_a_bot_that_telegram_does_not_know_is_the_token(bot: Bot, sandbox: SandboxProcess, status: int) -> None:
    assert isinstance(await after(bot, sandbox, {"status": status}), TokenRefused)


@pytest.mark.parametrize(
    "fault",
    [
        "drop",
        "drop_after",
        "reset",
        "reset_after",
        {"status": 500},
        {"status": 502, "body": "<html>Bad Gateway</html>"},
        {"status": 504},
        {"status": 200, "body": ""},
        {"status": 200, "body": '{"ok": true}'},
        {"status": 302, "body": ""},
        # A proxy on the way: what it says of itself is nothing that Telegram said of the chat or of the token.
        {"status": 400, "body": "<html>chat not found</html>"},
        {"status": 401, "body": "<html>log in</html>"},
        {"status": 403, "body": "<html>blocked by the user</html>"},
    ],
)
async def test_whatever_else_happens_is_unknown(bot: Bot, sandbox: SandboxProcess, fault: object) -> None:
    error = await after(bot, sandbox, fault)

    assert isinstance(error, OutcomeUnknown)
    assert len(str(error)) < 100


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (refusal(403, "Forbidden: bot was blocked by the user"), "Forbidden: bot was blocked by the user"),
        (refusal(400, "Bad Request: chat not found"), "Chat not found"),
        (refusal(400, "Bad Request: message is too long"), "Message is too long"),
        (refusal(400, "Bad Request: wrong remote file identifier specified"), "Wrong remote file identifier specified"),
        (refusal(400, "Bad Request: not enough rights"), "Not enough rights"),
        ({"status": 401}, "Unauthorized"),
        ({"status": 429, "retry_after": 7}, "Flood control exceeded. Retry in 0:00:07"),
        ({"status": 502, "body": "<html>Bad Gateway</html>"}, "Bad Gateway (502)"),
        ("drop", "no answer: ServerDisconnectedError"),
        ({"status": 502, "body": "<html>. Parsing"}, "Bad Gateway (502)"),
        ({"status": 200, "body": "<html>"}, "not an answer of the Bot API"),
        ({"status": 200, "body": '{"ok": true}'}, "not an answer of the Bot API"),
    ],
)
async def test_an_outcome_keeps_the_words_in_which_it_was_told(
    bot: Bot, sandbox: SandboxProcess, fault: object, words: str
) -> None:
    assert str(await after(bot, sandbox, fault)) == words


async def test_a_server_that_is_not_there_got_nothing(bot: Bot, sandbox: SandboxProcess) -> None:
    sandbox.kill()
    try:
        error = await outcome(bot, next(_chat_ids))
    finally:
        sandbox.start()

    assert isinstance(error, NotSent)


def test_what_telegram_says_is_fit_to_be_stored() -> None:
    said = str(ContentRefused("can't\0 parse \ud83d" + "ж" * 300))

    assert said.startswith("can't parse ?жж")
    assert len(said) == 200


def test_what_telegram_says_is_stored_without_our_secrets_also_where_it_is_cut() -> None:
    token = "246813579:AAF-a-token-of-the-tests-1Zq7_x9wQ"

    said = str(ChatRefused("ж" * 150 + f" https://api.telegram.org/bot{token}/sendMessage"))

    assert said.endswith("/bot[TELEGRAM_BOT_TOKEN]/")
