"""What the bot hears in groups: it follows them, and says nothing."""

from itertools import permutations
from typing import Any

import pytest

from subscribers.models import Subscriber
from tests.factories import make_subscriber
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end

FIRST, SUPERGROUPS = -4500, -1_002_000_000_000


def enter(talk: Talk, group: int) -> int:
    talk.sandbox.post("/control/chats", [{"chat_id": group, "type": "group", "first_name": "Хор"}])
    make_subscriber(chat_id=group)
    return group


def membership(chat_id: int, kind: str, status: str) -> dict[str, Any]:
    user = {"id": 1024, "is_bot": True, "first_name": "donate1024"}
    chat = {"id": chat_id, "type": kind, "title": "Хор"}
    return {"my_chat_member": {"chat": chat, "date": 1, "new_chat_member": {"user": user, "status": status}}}


def upgrade_updates(old: int, new: int) -> list[dict[str, Any]]:
    """All that Telegram may tell of an upgrade, the leaving of the old group too."""
    group, supergroup = {"id": old, "type": "group"}, {"id": new, "type": "supergroup"}
    return [
        {"message": {"message_id": 1, "date": 1, "chat": group, "migrate_to_chat_id": new}},
        {"message": {"message_id": 1, "date": 1, "chat": supergroup, "migrate_from_chat_id": old}},
        membership(new, "supergroup", "member"),
        membership(old, "group", "left"),
    ]


def test_an_upgraded_group_is_written_to_under_its_new_id(talk: Talk) -> None:
    old = enter(talk, FIRST)

    new = talk.sandbox.post("/control/upgrade", {"chat_id": old})["chat_id"]

    talk.settle(3)
    assert Subscriber.objects.active().get().chat_id == new
    assert not talk.sandbox.sent_to(new)


@pytest.mark.parametrize("is_subscriber", [False, True], ids=["a new id", "the id of a subscriber"])
def test_an_upgrade_loses_no_group_in_whatever_order_it_is_told(talk: Talk, *, is_subscriber: bool) -> None:
    orders = list(permutations(range(4)))
    for number in range(len(orders)):
        make_subscriber(chat_id=FIRST - number)
        if is_subscriber:
            make_subscriber(chat_id=SUPERGROUPS - number)

    for number, order in enumerate(orders):
        updates = upgrade_updates(FIRST - number, SUPERGROUPS - number)
        for place in order:
            talk.update(**updates[place])

    talk.settle(4 * len(orders))
    active = set(Subscriber.objects.active().values_list("chat_id", flat=True))
    assert active == {SUPERGROUPS - number for number in range(len(orders))}


def test_a_group_that_removes_the_bot_leaves_and_one_that_takes_it_in_again_is_back(talk: Talk) -> None:
    group = enter(talk, FIRST)

    talk.block(group)
    talk.settle(1)
    reason = talk.subscriber(group).left_reason
    talk.unblock(group)
    talk.settle(2)

    assert reason == Subscriber.LeftReason.BLOCKED
    assert talk.subscriber(group).is_active


def test_a_bot_that_left_a_group_by_itself_counts_as_removed(talk: Talk) -> None:
    make_subscriber(chat_id=FIRST)

    talk.update(**membership(FIRST, "group", "left"))

    talk.settle(1)
    assert talk.subscriber(FIRST).left_reason == Subscriber.LeftReason.BLOCKED


def test_a_group_subscribes_by_no_update(talk: Talk) -> None:
    for update in upgrade_updates(FIRST, SUPERGROUPS):
        talk.update(**update)

    talk.settle(4)
    assert not Subscriber.objects.exists()


def test_a_boolean_is_nobody(talk: Talk) -> None:
    make_subscriber(chat_id=1)

    talk.update(**membership(True, "private", "kicked"))
    talk.update(message={"message_id": 1, "date": 1, "chat": {"id": True, "type": "private"}, "text": "/stop"})

    talk.settle(2)
    assert talk.subscriber(1).is_active
