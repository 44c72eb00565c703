"""One database sends for one bot: what is restored, copied or second sends nothing until a person confirms."""

import shutil
from collections import Counter

import pytest
from django.db import connection

from delivery.models import Broadcast, Delivery, SenderSlot, SendingLock
from donate1024.stack.embedded import Postgres
from posts import clock
from subscribers.models import Subscriber
from tests.admin_chat import ADMIN, number_of, open_chat, written_in
from tests.end_to_end.copies import dump, on_restored
from tests.end_to_end.installation import Installation, Process
from tests.end_to_end.sweeps import wait_for_sweeps
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end
DAY = 24 * 3600


@pytest.fixture(autouse=True)
def _admin_chat(installation: Installation) -> None:
    open_chat(installation.sandbox)
    installation.env["TELEGRAM_ADMIN_CHATS"] = str(ADMIN)


def is_locked() -> bool:
    return SendingLock.load().is_locked


def kill(*processes: Process) -> None:
    for process in processes:
        process.kill_group()


def status(installation: Installation) -> str:
    return installation.manage("broadcast", "status").stderr


def free_slots() -> None:
    """Those of killed slices, which would lapse after 40 s."""
    SenderSlot.objects.all().delete()


def wait_until_locked(installation: Installation) -> None:
    installation.wait_until(is_locked, what="the lock")


def test_a_dump_of_the_night_restored_in_the_morning_sends_nothing_until_a_person_confirms(
    installation: Installation,
) -> None:
    make_fundraiser()
    make_fundraiser()
    people = installation.add_people(10)
    installation.set_clock()
    installation.enable_schedule()
    processes = [installation.worker(), installation.beat()]
    installation.wait_for_status("finished")
    installation.set_clock(hour="03:00")
    installation.pass_time(DAY)
    backup = dump(installation)
    installation.set_clock()
    installation.wait_for_status("finished")
    kill(*processes)
    installation.set_clock(hour="08:30")

    with on_restored(installation, backup):
        worker, beat = installation.worker(), installation.beat()
        installation.wait_until(lambda: is_locked() and Broadcast.objects.count() == 2, what="the lock")
        told = status(installation)
        unlocked = installation.manage("broadcast", "unlock")
        wait_for_sweeps(installation, worker)
        kill(worker, beat)

        assert "restored from a backup" in told
        assert unlocked.returncode == 0
        assert not is_locked()
        assert installation.books()["reason"] == "another copy of this database began it"
        assert not Delivery.objects.filter(broadcast__date=clock.local_date(clock.now())).exists()
    assert installation.served() == dict.fromkeys(people, 2)  # one on each day


def test_a_dump_of_mid_run_restored_at_once_sends_nothing_until_a_person_confirms(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "15"
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    backup = dump(installation)
    installation.wait_for_count(Delivery.Status.SENT, least=30)
    kill(worker)  # before it told anything newer than the dump
    before = Counter(installation.served())

    with on_restored(installation, backup):
        free_slots()
        worker, beat = installation.worker(), installation.beat()
        wait_until_locked(installation)
        wait_for_sweeps(installation, worker)
        during = Counter(installation.served())
        installation.manage("broadcast", "unlock")
        wait_for_sweeps(installation, worker)
        unlocked = installation.books()
        installation.manage("broadcast", "cancel")
        kill(worker, beat)

        assert (unlocked["status"], unlocked["paused_because"]) == ("paused", "sending is locked")
        assert unlocked["counts"]["pending"] > 0
        assert installation.books()["status"] == "cancelled"
    assert during == before
    assert set(installation.served().values()) == {1}
    assert set(installation.served()) <= set(people)


def test_a_copy_of_the_stopped_servers_files_sends_nothing_until_a_person_confirms(
    installation: Installation, postgres: Postgres
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "15"
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    kill(worker)
    postgres.stop()
    copy = postgres.data.with_name("copy")
    shutil.copytree(postgres.data, copy)
    postgres.start()
    connection.close()
    free_slots()
    worker, beat = installation.worker(), installation.beat()
    installation.wait_for_count(Delivery.Status.SENT, least=30)
    kill(worker, beat)  # no minute has gone by since the copy was made
    before = installation.served()
    postgres.stop()
    shutil.rmtree(postgres.data)
    shutil.copytree(copy, postgres.data)
    postgres.account.own(postgres.data)
    postgres.start()
    connection.close()
    free_slots()

    worker, beat = installation.worker(), installation.beat()
    wait_until_locked(installation)
    wait_for_sweeps(installation, worker)

    assert "another copy" in SendingLock.load().reason
    assert installation.served() == before
    assert set(before.values()) == {1}
    assert set(before) < set(people)
    assert beat.is_alive


def test_a_second_installation_is_locked_at_its_first_look_and_after_its_unlock_the_first_one(
    installation: Installation,
) -> None:
    make_fundraiser()
    empty = dump(installation)
    people = installation.add_people(5)
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_status("finished")
    kill(worker)
    installation.wait_until(lambda: number_of(written_in(installation.sandbox)) >= 2, what="the end to be told")

    with on_restored(installation, empty):
        others = installation.add_people(5, first=3001)
        refused = installation.manage("broadcast", "start", "--now")
        installation.manage("broadcast", "unlock")
        started = installation.manage("broadcast", "start", "--now")
        worker = installation.worker()
        installation.wait_for_status("finished")
        kill(worker)
        assert not is_locked()

    assert "another installation sends with this bot" in refused.stderr
    assert started.returncode == 0
    assert installation.served() == dict.fromkeys([*people, *others], 1)
    installation.pass_time(61)
    newcomer = 5005
    installation.sandbox.post("/control/chats", [{"chat_id": newcomer}])
    at = clock.now()
    Subscriber.objects.create(chat_id=newcomer, joined_at=at, started_at=at)
    worker, _ = installation.worker(), installation.beat()
    wait_until_locked(installation)
    wait_for_sweeps(installation, worker)
    assert newcomer not in installation.served()


def test_a_telegram_out_of_reach_at_the_restart_costs_no_morning_and_nothing_is_claimed_before_it_was_asked(
    installation: Installation,
) -> None:
    make_fundraiser()
    people = installation.add_people(10)
    installation.set_clock()
    installation.sandbox.stop()
    installation.enable_schedule()

    installation.worker()
    installation.beat()

    installation.wait_for_status("planned")
    installation.wait_until(lambda: installation.books()["hold_until"] is not None, what="a hold")
    books = installation.books()
    assert books["reason"] == "Telegram is out of reach"
    assert books["counts"]["pending"] == 10
    assert not Delivery.objects.exclude(claimed_at=None).exists()
    installation.sandbox.start()
    installation.pass_time(400)
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)
    ledger = installation.sandbox.get("/control/ledger")
    methods = [call["method"] for call in ledger]
    assert methods.index("setMyCommands") < methods.index("sendMessage")
    assert number_of(written_in(installation.sandbox)) >= 1
