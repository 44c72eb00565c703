"""What one answer of Telegram means for everybody: who waits, and how long."""

import pytest

from delivery.models import Delivery
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end


def test_nothing_is_sent_until_a_flood_wait_is_over(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(50)
    installation.fault({"status": 429, "retry_after": 4}, method="sendMessage", nth=20)
    installation.worker()
    installation.beat()

    installation.manage("broadcast", "start", "--now")

    books = installation.wait_for_status("finished")
    assert books["counts"]["sent"] == 50
    assert installation.served() == dict.fromkeys(people, 1)
    calls = installation.sandbox.get("/control/calls")
    refused = next(call for call in calls if call.get("status") == 429)  # an open poll has none yet
    waited = [
        call["at"] - refused["at"] for call in calls if call["at"] > refused["at"] and call["method"] == "sendMessage"
    ]
    already_on_their_way = [seconds for seconds in waited if seconds < 0.3]
    assert len(already_on_their_way) <= 3  # four in flight at this rate, one of them the refused
    assert min(set(waited) - set(already_on_their_way)) >= 4


def test_refused_content_costs_one_call_and_waits_for_a_person(installation: Installation) -> None:
    make_fundraiser()
    installation.add_people(20)
    description = "Bad Request: can't parse entities: Unsupported start tag"
    installation.fault({"status": 400, "description": description}, method="sendMessage", times=0)
    installation.worker()
    installation.worker()

    installation.manage("broadcast", "start", "--now")

    books = installation.wait_for_status("paused")
    assert "can't parse entities" in books["paused_because"].lower()
    assert books["counts"]["pending"] == 20
    assert [call["method"] for call in installation.sandbox.get("/control/calls")].count("sendMessage") == 1


def test_a_flood_wait_that_a_reply_meets_is_kept_by_the_broadcast(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "10"
    installation.sandbox.post("/control/chats", [{"chat_id": 5005, "state": "new", "first_name": "Оля"}])
    installation.bot().wait_for("The bot listens")
    installation.fault({"status": 429, "retry_after": 3}, method="sendMessage", chat_id=5005)
    installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=5)

    installation.sandbox.post("/control/say", {"chat_id": 5005, "text": "/start"})

    installation.wait_until(lambda: not Delivery.objects.open().exists(), what="the run to end")
    calls = installation.sandbox.get("/control/calls")
    refused = next(call["at"] for call in calls if call.get("status") == 429)  # an open poll has none yet
    inside = [call["at"] for call in calls if call["method"] == "sendMessage" and 0.3 < call["at"] - refused < 2.9]
    assert inside == []
    assert {chat: count for chat, count in installation.served().items() if chat != 5005} == dict.fromkeys(people, 1)
