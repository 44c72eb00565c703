"""PostgreSQL and Valkey killed, cut, frozen, emptied under processes that are never restarted."""

from collections.abc import Callable
from time import monotonic, sleep

import pytest
import redis
from django.db import connection

from delivery.models import Broadcast, Delivery
from donate1024.stack.embedded import Postgres, Valkey
from tests.end_to_end.installation import Installation, Process
from tests.end_to_end.killing import connect, cut_all, frozen, kill, pid, start_again
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end

FIVE_MINUTES = 5 * 60


def killed(installation: Installation, postgres: Postgres) -> None:
    kill(postgres)
    sleep(2)  # while it is away
    start_again(postgres)


def frozen_for_a_moment(installation: Installation, postgres: Postgres) -> None:
    """Everybody's clock says that it were five minutes."""
    with frozen(pid(postgres)):
        installation.pass_time(FIVE_MINUTES)
        sleep(3)


@pytest.mark.parametrize("strike", [killed, frozen_for_a_moment])
def test_everything_outlives_postgresql_in_mid_run_and_idle(
    installation: Installation, postgres: Postgres, strike: Callable[[Installation, Postgres], None]
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "15"
    installation.set_clock()
    installation.enable_schedule()
    processes = start_everything(installation)
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    open_calls = sending()
    strike(installation, postgres)
    connection.close()

    books = installation.wait_for_status("finished", seconds=120)
    assert books["counts"]["unknown"] <= len(open_calls)
    assert books["counts"]["sent"] + books["counts"]["unknown"] == len(people)
    assert_once(installation, people, unknown=books["counts"]["unknown"])

    strike(installation, postgres)
    connection.close()
    installation.pass_time(41)  # the slot of a slice that was just beginning lapses

    newcomer = 5005
    installation.sandbox.post("/control/chats", [{"chat_id": newcomer, "state": "new", "first_name": "Оля"}])
    installation.sandbox.post("/control/say", {"chat_id": newcomer, "text": "/start"})
    installation.wait_until(lambda: newcomer in installation.served(), seconds=120, what="the newcomer to be served")
    assert all(process.is_alive for process in processes)


def test_connections_cut_all_the_time_slow_a_run_and_do_not_starve_it(
    installation: Installation, postgres: Postgres
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.set_clock()
    installation.enable_schedule()
    processes = start_everything(installation)
    installation.wait_for_count(Delivery.Status.SENT, least=5)

    cuts = 0
    end = monotonic() + 90
    with connect(postgres) as admin:
        while len(installation.served()) < len(people) and monotonic() < end:
            cuts += cut_all(admin)
            sleep(0.075)

    connection.close()
    assert cuts > len(people)
    assert len(installation.served()) > 30  # it did not only begin when the cuts were over
    installation.wait_for_status("finished", seconds=60)
    assert installation.served() == dict.fromkeys(people, 1)
    assert all(process.is_alive for process in processes)


def start_everything(installation: Installation) -> list[Process]:
    bot = installation.bot().wait_for("The bot listens")
    workers = [installation.worker("telegram"), installation.worker("default", "bluesky")]
    return [bot, *workers, installation.beat()]


def sending() -> set[int]:
    return set(Delivery.objects.filter(status=Delivery.Status.SENDING).values_list("pk", flat=True))


def assert_once(installation: Installation, people: list[int], *, unknown: int) -> None:
    """Nobody twice, and nobody left out but those of whom the books say that it is not known."""
    served = installation.served()
    assert set(served.values()) == {1}
    assert len(set(people) - served.keys()) <= unknown


def test_a_hold_outlives_an_emptied_valkey(installation: Installation, valkey: Valkey) -> None:
    make_fundraiser()
    people = installation.add_people(40)
    installation.set_clock()
    installation.enable_schedule()
    installation.fault({"status": 429, "retry_after": 300}, method="sendMessage", nth=10)
    processes = start_everything(installation)
    installation.wait_until(Broadcast.objects.exclude(hold_until=None).exists, seconds=60, what="a hold")
    sent = len(installation.served())

    empty(valkey)
    sleep(4)  # several ticks

    assert len(installation.served()) <= sent + 4 < len(people)  # those that were in flight at the 429
    installation.pass_time(301)
    installation.wait_for_status("finished", seconds=120)
    assert installation.served() == dict.fromkeys(people, 1)
    assert all(process.is_alive for process in processes)


def test_everything_outlives_valkey_killed_and_emptied_in_mid_run(installation: Installation, valkey: Valkey) -> None:
    make_fundraiser()
    people = installation.add_people(90)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "15"
    installation.set_clock()
    installation.enable_schedule()
    processes = start_everything(installation)
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    empty(valkey)
    installation.wait_for_count(Delivery.Status.SENT, least=30)
    kill(valkey)
    sleep(3)
    assert len(installation.served()) < len(people)
    start_again(valkey)

    installation.wait_for_status("finished", seconds=120)
    assert installation.served() == dict.fromkeys(people, 1)
    assert all(process.is_alive for process in processes)


def empty(valkey: Valkey) -> None:
    with redis.Redis(unix_socket_path=str(valkey.socket)) as client:
        client.flushall()
