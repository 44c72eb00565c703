"""The morning as it should be: one message to everybody, whoever starts it and however often."""

import pytest

from delivery.models import Broadcast
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser, make_picture

pytestmark = pytest.mark.end_to_end


def test_beat_plans_and_workers_serve_everybody_once(installation: Installation) -> None:
    make_fundraiser(picture=make_picture(), picture_alt="Авто")
    people = installation.add_people(40)
    installation.sandbox.post("/control/block", {"chat_id": people[0]})
    installation.set_clock()
    installation.enable_schedule()
    installation.worker()

    installation.beat()

    books = installation.wait_for_status("finished")
    assert books["counts"] == {"pending": 0, "sending": 0, "sent": 39, "skipped": 1, "failed": 0, "unknown": 0}
    assert books["skipped"] == {"blocked": 1}
    assert installation.served() == dict.fromkeys(people[1:], 1)
    uploads = [call["uploaded"] for call in installation.sandbox.get("/control/ledger?method=sendPhoto")]
    assert uploads.count(True) == 1


def test_a_broadcast_whose_workers_were_down_over_its_window_waits_for_a_person(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(5)
    installation.set_clock()
    installation.enable_schedule()
    default_worker = installation.worker("default")
    installation.beat()
    installation.wait_for_status("planned")
    installation.pass_time(3 * 3600)

    installation.worker("telegram")

    books = installation.wait_for_status("paused")
    assert books["paused_because"] == "not begun in its window"
    assert installation.served() == {}
    assert default_worker.is_alive
    assert installation.manage("broadcast", "resume").returncode == 0
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)


def test_a_newcomer_gets_todays_message_and_the_next_morning_the_next_one(installation: Installation) -> None:
    make_fundraiser(title="Перший")
    make_fundraiser(title="Другий")
    installation.set_clock()
    installation.enable_schedule()
    installation.bot().wait_for("The bot listens")
    installation.worker()
    installation.beat()
    installation.sandbox.post("/control/chats", [{"chat_id": 5005, "state": "new", "first_name": "Оля <3"}])

    installation.sandbox.post("/control/say", {"chat_id": 5005, "text": "/start"})
    installation.wait_until(lambda: installation.served() == {5005: 1}, what="today's message")
    installation.sandbox.post("/control/next-morning")

    installation.wait_until(lambda: installation.served() == {5005: 2}, what="the next morning's message")
    titles = {message["text"].partition("\n")[0] for message in installation.sandbox.sent_to(5005)}
    assert {"Перший", "Другий"} < titles  # and the welcome
    assert Broadcast.objects.count() == 2
