"""One slice against the sandbox: what everybody gets."""

from datetime import timedelta
from time import monotonic

import pytest
from django.conf import LazySettings

from delivery import sending
from delivery.models import Delivery, UploadedPicture
from posts import clock
from posts.models import Fundraiser
from subscribers.models import Subscriber
from tests.delivery.running import make_proven
from tests.delivery.slices import calls_to, fault, make_recipients, send, send_frozen, served, states
from tests.delivery.together import together
from tests.factories import LONG_AGO, make_broadcast, make_delivery, make_picture, make_subscriber
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]


def test_everybody_gets_the_frozen_message_once(telegram: SandboxProcess) -> None:
    buttons = [[{"text": "Підтримати", "url": "https://send.monobank.ua/jar/SANDBOX1"}]]
    broadcast = make_broadcast(text="<b>Збір</b> &lt;3", buttons=buttons)
    chats = make_recipients(telegram, broadcast, 30)

    is_left = send(broadcast)

    assert not is_left
    assert served(telegram, chats) == [1] * 30
    (message,) = telegram.sent_to(chats[0])
    assert (message["method"], message["html"], message["text"]) == ("sendMessage", "<b>Збір</b> &lt;3", "Збір <3")
    assert message["reply_markup"] == {"inline_keyboard": buttons}
    delivery = Delivery.objects.get(subscriber__chat_id=chats[0])
    assert (delivery.status, delivery.message_id) == ("sent", str(message["message_id"]))
    broadcast.refresh_from_db()
    assert broadcast.first_sent_at
    assert list(Fundraiser.objects.values_list("times_shown", "last_shown_on")) == [(1, broadcast.date)]


def test_a_picture_goes_up_once_and_then_by_its_handle(telegram: SandboxProcess) -> None:
    broadcast = make_broadcast(picture=make_picture(color="green"))
    chats = make_recipients(telegram, broadcast, 10)

    send(broadcast)

    messages = [message for chat in chats for message in telegram.sent_to(chat)]
    assert [message["method"] for message in messages] == ["sendPhoto"] * 10
    assert sum(message["uploaded"] for message in messages) == 1
    assert UploadedPicture.objects.get().file_id


def test_a_picture_that_another_slice_uploaded_meanwhile_does_not_go_up_again(telegram: SandboxProcess) -> None:
    picture = make_picture(color="green")
    make_recipients(telegram, first := make_broadcast(picture=picture), 1)
    broadcast = make_proven(picture=picture, date=first.date + timedelta(days=1))
    chats = make_recipients(telegram, broadcast, 2)
    frozen = sending.load_frozen(broadcast.pk)
    send(first)

    send_frozen(frozen)

    assert [message["uploaded"] for chat in chats for message in telegram.sent_to(chat)] == [False, False]


def test_the_handle_of_another_bot_or_of_another_picture_is_not_used() -> None:
    picture, another = make_picture(color="green"), make_picture(color="red")
    for bot, uploaded in ((2048, picture), (1024, another)):
        UploadedPicture.objects.create(bot_id=bot, picture=uploaded, file_id="another", uploaded_at=LONG_AGO)

    assert sending.uploaded(1024, picture.pk) == ""


def test_a_row_that_becomes_due_during_a_slow_call_does_not_wait_for_its_answer(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 2)
    fault(telegram, {"delay": 4}, chat_id=chats[0])
    slow, soon = Delivery.objects.order_by("not_before")
    Delivery.objects.filter(pk=soon.pk).update(not_before=clock.now() + timedelta(seconds=1))

    send(broadcast)

    slow.refresh_from_db()
    soon.refresh_from_db()
    assert states(broadcast) == ["sent", "sent"]
    assert soon.settled_at
    assert slow.settled_at
    assert soon.settled_at < slow.settled_at


def test_another_broadcast_of_a_picture_uploads_nothing(telegram: SandboxProcess) -> None:
    picture = make_picture(color="green")
    first = make_broadcast(picture=picture)
    make_recipients(telegram, first, 1)
    send(first)
    second = make_broadcast(picture=picture, date=first.date + timedelta(days=1))
    chats = make_recipients(telegram, second, 3)

    send(second)

    assert [message["uploaded"] for chat in chats for message in telegram.sent_to(chat)] == [False] * 3


def test_a_handle_that_telegram_does_not_know_is_replaced_and_everybody_gets_the_picture(
    telegram: SandboxProcess,
) -> None:
    picture = make_picture(color="green")
    UploadedPicture.objects.create(bot_id=1024, picture=picture, file_id="another bot's", uploaded_at=LONG_AGO)
    broadcast = make_proven(picture=picture)
    chats = make_recipients(telegram, broadcast, 10)

    send(broadcast)

    assert served(telegram, chats) == [1] * 10
    messages = [message for chat in chats for message in telegram.sent_to(chat)]
    assert sum(message["uploaded"] for message in messages) == 1
    assert UploadedPicture.objects.get().file_id != "another bot's"


def test_two_slices_at_once_serve_everybody_once_and_both_work(telegram: SandboxProcess) -> None:
    broadcast = make_broadcast()
    chats = make_recipients(telegram, broadcast, 60)
    fault(telegram, {"delay": 1}, chat_id=chats[0])  # the probe

    def run() -> float:
        begun = monotonic()
        send(broadcast)
        return monotonic() - begun

    durations = together(run, run)

    assert served(telegram, chats) == [1] * 60
    assert min(durations) > 1  # neither ended while the other one probed


def test_the_window_stays_full_while_one_call_is_slow(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 40)
    fault(telegram, {"delay": 2}, chat_id=chats[3])

    send(broadcast)

    assert served(telegram, chats) == [1] * 40
    slow_at = Delivery.objects.get(subscriber__chat_id=chats[3]).settled_at
    assert slow_at
    assert Delivery.objects.filter(settled_at__lt=slow_at - timedelta(seconds=1)).count() == 39


def test_nobody_who_left_since_the_plan_is_called(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)
    Subscriber.objects.filter(chat_id=chats[1]).update(left_at=clock.now(), left_reason="stopped")

    is_left = send(broadcast)

    assert not is_left
    assert len(calls_to(telegram, chats)) == 2
    assert states(broadcast) == ["sent", "pending", "sent"]


def test_a_slice_that_ends_before_the_work_leaves_a_successor(
    telegram: SandboxProcess, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SLICE_SECONDS", 0.5)
    settings.TELEGRAM_MESSAGES_PER_SECOND = 10
    broadcast = make_proven()
    make_recipients(telegram, broadcast, 30)

    is_left = send(broadcast)

    assert is_left
    assert set(states(broadcast)) == {"sent", "pending"}


def test_who_blocked_the_bot_or_is_deleted_is_not_written_to_again(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 5)
    gone = ["blocked", "deactivated", "absent", "new"]
    telegram.post(
        "/control/chats", [{"chat_id": chat, "state": state} for chat, state in zip(chats, gone, strict=False)]
    )

    send(broadcast)

    rows = Delivery.objects.order_by("subscriber_id").values_list("status", "reason")
    assert list(rows) == [
        ("skipped", "blocked"),
        ("skipped", "deactivated"),
        ("skipped", "unreachable"),
        ("skipped", "not started"),
        ("sent", ""),
    ]
    left = Subscriber.objects.order_by("pk").values_list("left_reason", flat=True)
    assert list(left) == ["blocked", "deactivated", "unreachable", "", ""]


def test_a_group_that_became_a_supergroup_gets_the_message_once_under_its_new_id(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    group = make_subscriber(chat_id=-4500)
    make_delivery(broadcast, subscriber=group)
    new = {"chat_id": -1_002_471_352_452, "type": "supergroup"}
    telegram.post("/control/chats", [{"chat_id": -4500, "type": "group", "migrated_to": new["chat_id"]}, new])

    send(broadcast)

    group.refresh_from_db()
    assert group.chat_id == -1_002_471_352_452
    assert served(telegram, [-4500, -1_002_471_352_452]) == [0, 1]
