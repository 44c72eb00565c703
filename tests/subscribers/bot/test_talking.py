"""What people get from the bot: the real process, against the sandbox."""

import pytest

from subscribers.bot.people import WAITING_MOST
from subscribers.models import Subscriber
from tests.factories import make_subscriber
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end

GOODBYE = "We will not write any more. Thank you for every morning together."


def test_start_subscribes_and_welcomes_by_name(talk: Talk) -> None:
    olia = talk.meet("Оля <3")

    talk.say(olia, "/start")

    assert "Оля <3" in talk.replies(olia)[0]["text"]
    assert talk.subscriber(olia).first_name == "Оля <3"
    assert talk.subscriber(olia).is_active
    assert talk.subscriber(olia).started_at is not None


def test_start_sent_twice_subscribes_once(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/start")
    talk.settle(1)
    first = talk.subscriber(olia).started_at

    talk.say(olia, "/start from-a-poster")

    talk.replies(olia, 2)
    assert talk.subscriber(olia).started_at == first


def test_an_imported_person_who_presses_start_wants_todays_message(talk: Talk) -> None:
    olia = talk.meet()
    make_subscriber(chat_id=olia, started_at=None)

    talk.say(olia, "/start")

    talk.replies(olia)
    assert talk.subscriber(olia).started_at is not None


def test_stop_ends_it_and_the_button_brings_back(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/start", "/stop")
    goodbye = talk.replies(olia, 2)[1]
    left_reason = talk.subscriber(olia).left_reason

    talk.press(olia, goodbye)

    talk.replies(olia, 3)
    assert goodbye["text"] == GOODBYE
    assert left_reason == Subscriber.LeftReason.STOPPED
    assert talk.subscriber(olia).is_active


def test_a_button_pressed_three_times_acts_once(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/stop")
    goodbye = talk.replies(olia)[0]

    for _ in range(3):
        talk.press(olia, goodbye)

    talk.settle(4)
    assert len(talk.replies(olia)) == 2
    answered = talk.sandbox.get(f"/control/ledger?method=answerCallbackQuery&chat_id={olia}")
    assert len(answered) == 3


def test_a_press_that_telegram_calls_too_old_still_counts(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/stop")
    goodbye = talk.replies(olia)[0]
    talk.fault({"status": 400, "description": "Bad Request: query is too old"}, method="answerCallbackQuery")

    talk.press(olia, goodbye)

    talk.replies(olia, 2)
    assert talk.subscriber(olia).is_active


def test_stop_from_somebody_whom_nobody_knows_is_answered(talk: Talk) -> None:
    olia = talk.meet()

    talk.say(olia, "/stop")

    assert talk.replies(olia)[0]["text"] == GOODBYE
    assert not Subscriber.objects.exists()


def test_blocking_leaves_and_unblocking_returns(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/start")
    talk.settle(1)
    before = talk.subscriber(olia)

    talk.block(olia)
    talk.settle(2)
    blocked = talk.subscriber(olia)
    talk.unblock(olia)
    talk.settle(3)

    after = talk.subscriber(olia)
    assert blocked.left_reason == Subscriber.LeftReason.BLOCKED
    assert after.is_active
    assert before.started_at is not None
    assert after.started_at is not None
    assert after.started_at > before.started_at


def test_unblocking_does_not_undo_a_stop(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/start", "/stop")
    talk.settle(2)

    talk.block(olia)
    talk.unblock(olia)

    talk.settle(4)
    assert talk.subscriber(olia).left_reason == Subscriber.LeftReason.STOPPED


def test_words_without_a_command_get_one_friendly_answer(talk: Talk) -> None:
    olia = talk.meet()

    talk.say(olia, "Доброго ранку")

    assert "/start" in talk.replies(olia)[0]["text"]


def test_help_names_whom_to_write_to(talk: Talk) -> None:
    olia = talk.meet()

    talk.say(olia, "/help")

    assert talk.replies(olia)[0]["text"].endswith("\n\nQuestions: @support")


def test_a_ukrainian_telegram_reads_ukrainian(talk: Talk) -> None:
    olia = talk.meet(language="uk")

    talk.say(olia, "/stop")

    assert talk.replies(olia)[0]["text"] == "Більше не писатимемо. Дякуємо за кожен ранок разом."


def test_in_a_flood_of_words_the_stop_is_not_lost(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, "/start")
    talk.settle(1)
    talk.fault({"delay": 2}, method="sendMessage", chat_id=olia)

    talk.say(olia, "Слухайте", *["і ще"] * (WAITING_MOST + 10), "/stop")

    talk.settle(WAITING_MOST + 13)
    texts = [reply["text"] for reply in talk.replies(olia)]
    assert texts.count(GOODBYE) == 1
    assert len([text for text in texts if text.startswith("One moment")]) == 1
    assert talk.subscriber(olia).left_reason == Subscriber.LeftReason.STOPPED


def test_one_slow_chat_delays_nobody_else(talk: Talk) -> None:
    slow, quick = talk.meet(), talk.meet()
    talk.fault({"hang": 8}, method="sendMessage", chat_id=slow)
    talk.say(slow, "/start")

    talk.say(quick, "/start")

    talk.replies(quick, seconds=2)
    assert not talk.sandbox.sent_to(slow)


def test_a_flooded_bot_answers_when_it_may_again(talk: Talk) -> None:
    olia = talk.meet()
    talk.fault({"status": 429, "retry_after": 1}, method="sendMessage", chat_id=olia)

    talk.say(olia, "/start")

    assert len(talk.replies(olia)) == 1


def test_odd_updates_harm_nobody(talk: Talk) -> None:
    olia, taras = talk.meet(), talk.meet()
    private = {"id": olia, "type": "private"}

    talk.update(message={"message_id": 1, "date": 0, "chat": private, "text": "/start\0"})  # nobody's, and a NUL
    talk.update(message={"message_id": 2, "date": 0, "chat": private, "text": "\ud83d"})  # half an emoji
    talk.update(edited_message={"message_id": 3, "date": 0, "chat": private, "text": "/stop"})
    talk.update(message={"message_id": 4, "date": 0, "chat": {"id": -4500, "type": "group"}, "text": "/start"})
    talk.update(callback_query={"id": "1", "from": {"id": taras}, "data": "no such button"})
    talk.update(something_new={"id": 1})
    talk.update(message=None)

    talk.settle(7)
    assert [subscriber.chat_id for subscriber in Subscriber.objects.all()] == [olia]
    assert talk.subscriber(olia).is_active


def test_an_update_that_cannot_be_handled_mutes_nobody(talk: Talk) -> None:
    olia = talk.meet()
    chat = {"id": 2**63, "type": "private"}  # larger than the column

    talk.update(message={"message_id": 1, "date": 0, "chat": chat, "text": "/start"})
    talk.say(olia, "/start")

    talk.settle(2)
    assert [subscriber.chat_id for subscriber in Subscriber.objects.all()] == [olia]


def test_the_same_update_five_times_gets_one_reply(talk: Talk) -> None:
    olia = talk.meet()
    message = {"message_id": 1, "date": 0, "chat": {"id": olia, "type": "private"}, "text": "Привіт"}

    for _ in range(5):
        talk.update(update_id=900_000_001, message=message)
    talk.say(olia, "/stop")

    talk.settle(2)
    assert len(talk.replies(olia)) <= 2
    assert talk.replies(olia)[-1]["text"] == GOODBYE
