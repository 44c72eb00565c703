"""What people see who open a one-time link: the real bot, against the sandbox."""

from itertools import count

import pytest

from posts import clock
from subscribers import admin_chats
from subscribers.admin_chats import AdminChat, Role
from subscribers.models import Subscriber
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end

_groups = count(4700)


def make_link(role: Role = Role.CURATOR) -> str:
    return admin_chats.make_link(role, at=clock.now())


def enter(talk: Talk) -> int:
    group = -next(_groups)
    talk.sandbox.post("/control/chats", [{"chat_id": group, "type": "group", "first_name": "Черговий хор"}])
    return group


@pytest.mark.parametrize("role", Role)
def test_the_opener_becomes_an_admin_chat_and_is_told_what_will_come(talk: Talk, role: Role) -> None:
    olia = talk.meet("Оля")

    talk.say(olia, f"/start {make_link(role)}")

    talk.settle(1)
    (told,) = talk.replies(olia)
    chat = AdminChat.objects.get()
    assert (chat.chat_id, chat.role, chat.name) == (olia, role, "Оля")
    assert role in told["text"]
    assert "what to do" in told["text"]
    assert ("technical" in told["text"]) == (role == Role.OPERATOR)
    assert not Subscriber.objects.exists()


def test_an_admin_subscribes_by_start_alone(talk: Talk) -> None:
    olia = talk.meet()
    talk.say(olia, f"/start {make_link()}", "/start")

    _, welcome = talk.replies(olia, 2)

    assert "Good to have you with us" in welcome["text"]
    assert talk.subscriber(olia).is_active


def test_a_used_link_is_answered_to_others_like_start(talk: Talk) -> None:
    olia, taras = talk.meet("Оля"), talk.meet("Тарас")
    payload = make_link()
    talk.say(olia, f"/start {payload}")
    talk.replies(olia)

    talk.say(taras, f"/start {payload}")

    (told,) = talk.replies(taras)
    assert "Good to have you with us, Тарас" in told["text"]
    assert AdminChat.objects.get().chat_id == olia


def test_a_group_is_linked_is_told_so_and_stays_linked_as_a_supergroup(talk: Talk) -> None:
    group = enter(talk)

    talk.say(group, f"/start@donate1024_bot {make_link(Role.OPERATOR)}")
    (told,) = talk.replies(group)
    supergroup = talk.sandbox.post("/control/upgrade", {"chat_id": group})["chat_id"]
    talk.settle(4)

    chat = AdminChat.objects.get()
    assert (chat.chat_id, chat.role, chat.name) == (supergroup, Role.OPERATOR, "Черговий хор")
    assert "/start" not in told["text"]
    assert not Subscriber.objects.exists()


def test_a_wrong_payload_in_a_group_gets_no_word(talk: Talk) -> None:
    group = enter(talk)
    make_link()

    talk.say(group, "/start wrong", "/start", "hello")

    talk.settle(3)
    assert talk.sandbox.sent_to(group) == []
    assert not AdminChat.objects.exists()


@pytest.mark.parametrize("is_group", [False, True], ids=["a person", "a group"])
def test_a_chat_that_removes_the_bot_is_unlinked(talk: Talk, *, is_group: bool) -> None:
    chat_id = enter(talk) if is_group else talk.meet()
    talk.say(chat_id, f"/start {make_link()}")
    talk.replies(chat_id)

    talk.block(chat_id)

    talk.settle(2)
    assert not AdminChat.objects.exists()
    assert "The last admin chat has removed the bot" in talk.installation.written()


def test_a_group_that_floods_the_bot_with_links_costs_a_few_answers(talk: Talk) -> None:
    group, olia = enter(talk), talk.meet()

    talk.say(group, *[f"/start {number}" for number in range(60)])
    talk.say(olia, "/start")

    talk.replies(olia)
    talk.settle(61)
    assert talk.sandbox.sent_to(group) == []
