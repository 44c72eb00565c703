"""What an update is taken for."""

from typing import Any

import pytest

from subscribers.bot.events import (
    Added,
    Blocked,
    Event,
    LinkOpened,
    Person,
    Pressed,
    Removed,
    Said,
    Unblocked,
    Upgraded,
    read,
)

PRIVATE = {"id": 101, "type": "private"}
GROUP, SUPERGROUP = {"id": -4500, "type": "group"}, {"id": -1002471352452, "type": "supergroup"}
OLIA = Person(101, first_name="Оля")
SENDER = {"id": 101, "first_name": "Оля"}


def membership(chat: dict[str, Any], status: str) -> dict[str, Any]:
    return {"my_chat_member": {"chat": chat, "from": SENDER, "new_chat_member": {"status": status}}}


@pytest.mark.parametrize(
    ("update", "event"),
    [
        ({"message": {"chat": PRIVATE, "from": SENDER, "text": "/start"}}, Said(OLIA, "/start")),
        ({"message": {"chat": GROUP | {"title": "Хор"}, "text": "/start@bot x-1"}}, LinkOpened(-4500, "Хор", "x-1")),
        ({"message": {"chat": SUPERGROUP, "text": "/start x-1"}}, LinkOpened(-1002471352452, "", "x-1")),
        ({"callback_query": {"id": "7", "from": SENDER, "data": "start"}}, Pressed(OLIA, "7", "start")),
        (membership(PRIVATE, "kicked"), Blocked(OLIA)),
        (membership(PRIVATE, "member"), Unblocked(OLIA)),
        (membership(GROUP, "kicked"), Removed(-4500)),
        (membership(SUPERGROUP, "left"), Removed(-1002471352452)),
        (membership(GROUP, "member"), Added(-4500)),
        (membership(SUPERGROUP, "administrator"), Added(-1002471352452)),
        ({"message": {"chat": GROUP, "migrate_to_chat_id": -1002471352452}}, Upgraded(-4500, -1002471352452)),
        ({"message": {"chat": SUPERGROUP, "migrate_from_chat_id": -4500}}, Upgraded(-4500, -1002471352452)),
    ],
)
def test_an_update_is_read(update: dict[str, Any], event: Event) -> None:
    assert read(update) == event


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"message": None},
        {"message": {"chat": GROUP, "text": "/start"}},
        {"message": {"chat": GROUP, "text": "/stop x-1"}},
        {"message": {"chat": GROUP, "text": "start x-1"}},
        {"message": {"chat": GROUP, "text": None}},
        {"message": {"chat": {"id": True, "type": "group"}, "text": "/start x-1"}},
        {"message": {"chat": {"id": -1001, "type": "channel"}, "text": 5}},
        {"message": {"chat": {"id": True, "type": "private"}, "text": "/start"}},
        {"message": {"chat": {"id": "101", "type": "private"}, "text": "/start"}},
        {"message": {"chat": GROUP, "migrate_to_chat_id": True}},
        {"message": {"chat": {"id": True, "type": "group"}, "migrate_to_chat_id": -1002471352452}},
        {"message": {"chat": GROUP, "migrate_to_chat_id": 101}},
        {"callback_query": {"id": "7", "from": {"id": True}, "data": "start"}},
        membership({"id": True, "type": "private"}, "kicked"),
        membership({"id": -1001, "type": "channel"}, "kicked"),
        membership(PRIVATE, "left"),
        membership(GROUP, "restricted"),
        {"edited_message": {"chat": PRIVATE, "text": "/stop"}},
    ],
)
def test_what_is_not_ours_is_nothing(update: dict[str, Any]) -> None:
    assert read(update) is None


@pytest.mark.parametrize(
    ("text", "command", "payload"),
    [
        ("/start x-1", "/start", "x-1"),
        ("/START@our_bot  x-1 ", "/start", "x-1"),
        (" /start\nx-1", "/start", "x-1"),
        ("/start", "/start", ""),
        ("hello there", "", "there"),
        (" ", "", ""),
    ],
)
def test_a_command_is_told_from_what_stands_behind_it(text: str, command: str, payload: str) -> None:
    said = Said(OLIA, text)

    assert (said.command, said.payload) == (command, payload)


@pytest.mark.parametrize(
    ("person", "label"),
    [
        (Person(1, "olia", "Оля"), "Оля @olia"),
        (Person(1, "olia"), "@olia"),
        (Person(1, "", "Оля"), "Оля"),
        (Person(1), ""),
    ],
)
def test_people_are_told_apart_by_what_is_known(person: Person, label: str) -> None:
    assert person.label == label
