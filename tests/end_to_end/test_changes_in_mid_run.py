"""What people do while a broadcast goes out: leave, come back, edit, pause, cancel."""

import pytest

from delivery import control
from delivery.models import Broadcast, Delivery
from posts import clock
from posts.models import Fundraiser
from subscribers.models import Subscriber
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser, make_picture

pytestmark = pytest.mark.end_to_end


def test_leaving_counts_at_once_and_coming_back_is_served_once(installation: Installation) -> None:
    make_fundraiser()
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "10"  # so that the bot hears of it before their turn
    people = installation.add_people(100)
    installation.bot().wait_for("The bot listens")
    installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=5)
    leaver, blocker, returner = people[-1], people[-2], people[-3]

    installation.sandbox.post("/control/say", {"chat_id": leaver, "text": "/stop"})
    installation.sandbox.post("/control/block", {"chat_id": blocker})
    installation.sandbox.post("/control/say", {"chat_id": returner, "text": "/stop"})
    installation.sandbox.post("/control/say", {"chat_id": returner, "text": "/start"})
    installation.wait_until(
        lambda: Subscriber.objects.filter(left_at__isnull=False).count() == 2, what="both to have left"
    )
    assert Delivery.objects.get(subscriber__chat_id=leaver).status == Delivery.Status.PENDING
    installation.beat()

    books = installation.wait_for_status("finished")
    assert books["counts"]["sent"] == 98
    assert books["skipped"] == {"blocked": 1, "left": 1}
    assert installation.served() == dict.fromkeys(set(people) - {leaver, blocker}, 1)


def test_newcomers_and_people_who_come_back_get_todays_message(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(3)
    Subscriber.objects.filter(chat_id=people[0]).update(left_at="2026-01-01T00:00:00Z", left_reason="blocked")
    installation.set_clock()
    installation.enable_schedule()
    installation.bot().wait_for("The bot listens")
    installation.worker()
    installation.beat()
    finished_at = installation.wait_for_status("finished")["finished_at"]
    newcomer = 5005
    installation.sandbox.post("/control/chats", [{"chat_id": newcomer, "state": "new", "first_name": "Оля <3"}])

    installation.sandbox.post("/control/say", {"chat_id": newcomer, "text": "/start"})
    installation.sandbox.post("/control/block", {"chat_id": people[0]})
    installation.sandbox.post("/control/unblock", {"chat_id": people[0]})

    installation.wait_until(lambda: len(installation.served()) == 4, what="both to be served")
    books = installation.wait_for_status("finished")
    assert set(installation.served().values()) == {1}
    assert books["finished_at"] == finished_at
    assert books["recipients"] == 4


def test_a_run_sends_what_was_frozen_whatever_is_edited_meanwhile(installation: Installation) -> None:
    fundraiser = make_fundraiser(text="Перша редакція", picture=make_picture(), picture_alt="Авто")
    people = installation.add_people(50)
    installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=5)

    Fundraiser.objects.update(text="Друга редакція", picture=None, status=Fundraiser.Status.WITHDRAWN)
    fundraiser.payment_methods.all().delete()

    installation.wait_for_status("finished")
    ledger = installation.sandbox.get("/control/ledger?method=sendPhoto")
    assert len(ledger) == len(people)
    assert len({(call["html"], str(call["reply_markup"]), call["photo"]) for call in ledger}) == 1
    assert "Перша редакція" in ledger[0]["html"]


def test_a_paused_run_stays_paused_over_a_restart_and_goes_on_when_resumed(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    control.pause(Broadcast.objects.get(), by="Ольга")  # a command would take longer to start than the run to end
    worker.stop()
    sent = len(installation.served())
    installation.worker()
    beat = installation.beat()
    beat.wait_for("Sending due task sweep")
    installation.wait_until(lambda: beat.written().count("Sending due task sweep") > 3, what="several sweeps")

    assert len(installation.served()) == sent < len(people)
    assert installation.books()["paused_because"] == "paused by hand"
    assert installation.manage("broadcast", "resume").returncode == 0
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)


def test_a_cancelled_run_writes_to_nobody_else_and_its_books_balance(installation: Installation) -> None:
    make_fundraiser()
    installation.add_people(100)
    installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    control.cancel(Broadcast.objects.get(), by="Ольга", at=clock.now())

    installation.wait_until(lambda: not Delivery.objects.open().exists(), what="nothing to be open")
    books = installation.books()
    assert books["status"] == "cancelled"
    assert books["counts"]["sent"] + books["skipped"]["cancelled"] == books["recipients"] == 100
    assert len(installation.served()) == books["counts"]["sent"]
    assert installation.manage("broadcast", "start", "--now").returncode == 1
    assert Broadcast.objects.count() == 1
