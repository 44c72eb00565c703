"""A disk that is full under the logs."""

from pathlib import Path

import pytest
from django_celery_beat.models import PeriodicTask

from delivery.models import Delivery
from tests.end_to_end.installation import CELERY, Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end


def test_processes_that_cannot_write_their_logs_start_and_send(installation: Installation) -> None:
    installation.log = Path("/dev/full")  # each write ends with "No space left on device"
    make_fundraiser()
    people = installation.add_people(40)
    installation.fault({"status": 502}, method="sendMessage", nth=5)  # something to log
    installation.set_clock()
    installation.enable_schedule()
    beat = installation.start("beat", *CELERY, "beat", "-l", "info", "--pidfile=")
    processes = [installation.bot(), installation.worker(), beat]
    installation.wait_until(PeriodicTask.objects.filter(name="sweep").exists, what="beat to write its schedule")
    installation.hurry_beat()

    books = installation.wait_for_status("finished", seconds=120)

    newcomer = 5005
    installation.sandbox.post("/control/chats", [{"chat_id": newcomer, "state": "new", "first_name": "Оля"}])
    installation.sandbox.post("/control/say", {"chat_id": newcomer, "text": "/start"})
    installation.wait_until(lambda: newcomer in installation.served(), seconds=60, what="the newcomer to be served")
    assert books["counts"] | {"sent": 39, "unknown": 1} == books["counts"]
    (lost,) = Delivery.objects.filter(status=Delivery.Status.UNKNOWN).values_list("subscriber__chat_id", flat=True)
    assert installation.served() == dict.fromkeys({*people, newcomer} - {lost}, 1)
    assert all(process.is_alive for process in processes)
