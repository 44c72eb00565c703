"""Five real minutes of SIGSTOP for each process and server in mid-run, as a laptop's lid or a hypervisor makes them."""

from time import sleep

import pytest
from django.db import connection

from delivery.models import Delivery
from donate1024.stack.embedded import Postgres, Valkey
from tests.end_to_end.installation import Installation
from tests.end_to_end.killing import frozen, pid
from tests.factories import make_fundraiser

pytestmark = [pytest.mark.end_to_end, pytest.mark.long, pytest.mark.timeout(900)]

FIVE_MINUTES = 5 * 60
IN_FLIGHT = 4  # at this rate, over all slices: see delivery/window.py


@pytest.mark.parametrize("who", ["telegram", "default", "beat", "bot", "postgres", "valkey"])
def test_five_minutes_of_being_frozen_cost_time_only(
    installation: Installation, postgres: Postgres, valkey: Valkey, who: str
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "5"
    installation.set_clock()
    installation.enable_schedule()
    processes = {
        "bot": installation.bot().wait_for("The bot listens"),
        "telegram": installation.worker("telegram"),
        "default": installation.worker("default", "bluesky"),
        "beat": installation.beat(),
    }
    members = {name: process.process.pid for name, process in processes.items()}
    members |= {"postgres": pid(postgres), "valkey": pid(valkey)}
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    with frozen(members[who]):
        sleep(FIVE_MINUTES)
    connection.close()

    books = installation.wait_for_status("finished", seconds=300)
    newcomer = 5005
    installation.sandbox.post("/control/chats", [{"chat_id": newcomer, "state": "new", "first_name": "Оля"}])
    installation.sandbox.post("/control/say", {"chat_id": newcomer, "text": "/start"})
    installation.wait_until(lambda: newcomer in installation.served(), seconds=120, what="the newcomer to be served")
    assert installation.served() == dict.fromkeys([*people, newcomer], 1)
    assert books["counts"]["unknown"] <= (IN_FLIGHT if who == "telegram" else 0)
    assert all(process.is_alive for process in processes.values())
