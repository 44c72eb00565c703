"""Another installation that polls, or a webhook, stops the planning: one token serves one bot."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, Thread

import pytest

from delivery.models import Broadcast
from donate1024.sandbox import TOKEN
from subscribers.models import PollingConflict
from tests.end_to_end.installation import Installation
from tests.end_to_end.sweeps import wait_for_sweeps
from tests.factories import make_fundraiser
from tests.sandbox_process import SandboxError

pytestmark = pytest.mark.end_to_end


def conflict_lasts(seconds: float) -> bool:
    conflict = PollingConflict.objects.first()
    return conflict is not None and (conflict.seen_at - conflict.since).total_seconds() >= seconds


def test_another_installation_that_polls_stops_the_planning_until_it_is_gone(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(3)
    installation.set_clock()
    bot = installation.bot().wait_for("The bot listens")
    worker, _ = installation.worker(), installation.beat()

    with another_poller(installation):
        installation.wait_until(lambda: conflict_lasts(0), what="the first conflict")
        for half_minutes in (1, 2, 3, 4):  # a success counts as its end where no conflict follows within a minute
            installation.pass_time(30)
            installation.wait_until(partial(conflict_lasts, 30 * half_minutes), what="a conflict that lasts")
        installation.enable_schedule()
        wait_for_sweeps(installation, worker)
        planned = Broadcast.objects.exists()
    installation.pass_time(121)

    installation.wait_for_status("finished")
    assert not planned
    assert installation.served() == dict.fromkeys(people, 1)
    assert bot.written().count("Another installation gets this bot's messages") == 1


def test_a_webhook_stops_the_planning_until_it_is_deleted(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(3)
    installation.set_clock()
    bot = installation.bot().wait_for("The bot listens")
    worker, _ = installation.worker(), installation.beat()

    installation.sandbox.get(f"/bot{TOKEN}/setWebhook?url=https://example.org/hook")
    installation.wait_until(lambda: conflict_lasts(0), what="the conflict")
    installation.enable_schedule()
    wait_for_sweeps(installation, worker)
    planned = Broadcast.objects.exists()
    installation.sandbox.get(f"/bot{TOKEN}/deleteWebhook")
    installation.pass_time(121)

    installation.wait_for_status("finished")
    assert not planned
    assert installation.served() == dict.fromkeys(people, 1)
    assert bot.written().count("A webhook is set") == 1


@contextmanager
def another_poller(installation: Installation) -> Iterator[None]:
    """Somebody else asks for the bot's updates twice a second."""
    is_over = Event()

    def poll() -> None:
        while not is_over.wait(0.5):
            with suppress(SandboxError):  # our own poll interrupted it
                installation.sandbox.get(f"/bot{TOKEN}/getUpdates?timeout=0")

    thread = Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
