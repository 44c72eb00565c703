"""A slice whose calls are answered with what no column takes: the message is out, and its row says so."""

import json

import pytest

from delivery.models import Delivery, UploadedPicture
from tests.delivery.running import make_proven
from tests.delivery.slices import calls_to, fault, make_recipients, send, served, states
from tests.delivery.traces import errors
from tests.factories import make_picture
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("short_holds")]


def accepted(**facts: object) -> dict[str, object]:
    """A fault: the call is answered as if it had been accepted, with a message that has these facts."""
    message = {"message_id": 77, "date": 1, "chat": {"id": 1, "type": "private"}} | facts
    return {"status": 200, "body": json.dumps({"ok": True, "result": message})}


@pytest.mark.parametrize(
    ("message_id", "stored"),
    [(10**300, "1" + "0" * 199), ("77\0\ud83d", "77?"), (None, "None")],
    ids=["too long", "no text", "none"],
)
def test_a_message_is_sent_whatever_its_id(
    telegram: SandboxProcess, message_id: object, stored: str, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_proven()
    (chat,) = make_recipients(telegram, broadcast, 1)
    fault(telegram, accepted(message_id=message_id), chat_id=chat)

    send(broadcast)

    assert list(Delivery.objects.values_list("status", "message_id")) == [("sent", stored)]
    assert errors(caplog) == []


def uploaded(handle: str) -> dict[str, object]:
    return accepted(photo=[{"file_id": handle, "file_unique_id": "u", "width": 1, "height": 1}])


def test_a_handle_that_is_longer_than_its_column_is_replaced(
    telegram: SandboxProcess, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_proven(picture=make_picture())
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, uploaded("h" * 201), chat_id=chats[0])

    send(broadcast)

    assert states(broadcast) == ["sent"] * 3
    assert served(telegram, chats[1:]) == [1] * 2
    assert len(UploadedPicture.objects.get().file_id) <= 200
    assert errors(caplog) == []


def test_a_handle_that_is_no_text_costs_nobody_their_message(telegram: SandboxProcess) -> None:
    broadcast = make_proven(picture=make_picture())
    chats = make_recipients(telegram, broadcast, 3)
    fault(telegram, uploaded("h\0\ud83d"), chat_id=chats[0])

    send(broadcast)

    broadcast.refresh_from_db()
    assert states(broadcast) == ["sent", "pending", "pending"]
    assert (broadcast.status, broadcast.reason) == ("paused", "Telegram refused the picture")


def test_a_group_that_moved_to_an_id_that_is_none_costs_its_own_row_only(telegram: SandboxProcess) -> None:
    broadcast = make_proven()
    chats = make_recipients(telegram, broadcast, 3)
    moved = {"status": 400, "description": "Bad Request: moved", "parameters": {"migrate_to_chat_id": -(10**30)}}
    fault(telegram, moved, chat_id=chats[0])

    send(broadcast)

    assert states(broadcast) == ["failed", "sent", "sent"]
    assert len(calls_to(telegram, chats)) == 3
