"""Two hours of a healthy, busy system, in which nobody is alarmed (SOAK_MINUTES= says how long)."""

import os
from collections.abc import Iterator
from datetime import time, timedelta
from itertools import count
from time import monotonic, sleep

import pytest

from delivery.models import Broadcast
from donate1024.stack.embedded import Postgres, Valkey
from posts import clock
from tests.end_to_end.installation import Installation
from tests.end_to_end.judging import judge
from tests.end_to_end.watching import CHECK, Watched
from tests.factories import make_fundraiser
from tests.http_peer import HttpPeer

MINUTES = float(os.environ.get("SOAK_MINUTES", "120"))
PEOPLE = 1500  # a minute of sending
MORNING = time(8, 0, 5)

pytestmark = [pytest.mark.end_to_end, pytest.mark.long, pytest.mark.timeout(MINUTES * 60 + 900)]


@pytest.fixture
def watched(installation: Installation, postgres: Postgres, valkey: Valkey) -> Iterator[Watched]:
    with HttpPeer() as monitor:
        watched = Watched(installation, postgres, valkey, monitor)
        yield watched
        watched.close()


def test_nobody_is_alarmed_while_nothing_is_wrong(watched: Watched) -> None:
    for _ in range(12):
        make_fundraiser()
    people = watched.installation.add_people(PEOPLE)
    watched.installation.enable_schedule(effective_from=clock.now())
    watched.wait_until(lambda: watched.health()[0] == 200, seconds=60, what="the web process")
    reds: list[set[str]] = []
    days = 0

    end = monotonic() + MINUTES * 60
    while monotonic() < end:
        go_to_the_next_morning(watched.installation)
        days += 1
        for number in count():
            say(watched.installation, people[number % PEOPLE])
            status, parts = watched.health()
            if status != 200:
                reds.append({name for name, part in parts.items() if not part["ok"]})
            sleep(1)
            if number > 30 and is_finished():
                break
        books = judge(watched.installation)
        assert books["counts"]["sent"] == PEOPLE

    assert watched.alerts() == []
    assert reds == []
    assert set(watched.monitor.paths()) == {CHECK, f"{CHECK}/start"}
    assert days >= MINUTES / 5


def go_to_the_next_morning(installation: Installation) -> None:
    at = clock.now()
    morning = clock.local_moment(clock.local_date(at) + timedelta(days=1), MORNING)
    installation.pass_time((morning - at).total_seconds())


def say(installation: Installation, chat_id: int) -> None:
    installation.sandbox.post("/control/say", {"chat_id": chat_id, "text": "/today"})


def is_finished() -> bool:
    return Broadcast.objects.filter(date=clock.local_date(clock.now()), status=Broadcast.Status.FINISHED).exists()
