"""Holds and pauses with real processes: who waits how long, and what one bad text costs."""

from datetime import datetime
from itertools import pairwise
from json import loads

import pytest
import redis
from django.conf import settings

from delivery.models import Broadcast, Delivery
from posts import clock
from posts.models import Fundraiser
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end


def attempts(installation: Installation) -> list[float]:
    """When, by the sandbox's clock, somebody was written to."""
    calls = installation.sandbox.get("/control/calls")
    return [call["at"] for call in calls if call["method"] == "sendMessage"]


def hold_until() -> datetime | None:
    return Broadcast.objects.values_list("hold_until", flat=True).get()


def is_on_hold() -> bool:
    until = hold_until()
    return until is not None and until > clock.now()


def wait_for_attempt(installation: Installation, *, number: int) -> None:
    installation.wait_until(lambda: len(attempts(installation)) >= number, what=f"attempt {number}")


def empty_valkey() -> None:
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    redis.Redis.from_url(settings.LIMITER_URL).flushdb()


def test_an_outage_is_probed_by_one_message_in_growing_waits_and_survives_an_emptied_valkey(
    installation: Installation,
) -> None:
    make_fundraiser()
    people = installation.add_people(30)
    for _ in range(2):
        installation.worker()
    installation.beat()
    installation.fault({"status": 502}, method="sendMessage", nth=11, times=0)
    installation.manage("broadcast", "start", "--now")
    installation.wait_until(is_on_hold, what="the first hold")
    installation.wait_until(lambda: installation.books()["counts"]["sending"] == 0, what="the calls in flight to end")
    in_flight = installation.books()["counts"]["unknown"]
    told = loads(installation.manage("broadcast", "status", "--json").stdout)

    for probed in range(1, 6):
        empty_valkey()
        until = hold_until()
        assert until
        installation.pass_time(max((until - clock.now()).total_seconds(), 0))
        wait_for_attempt(installation, number=10 + in_flight + probed)
        installation.wait_until(is_on_hold, what="the next hold")
    installation.sandbox.delete("/control/faults")
    installation.pass_time(330)

    books = installation.wait_for_status("finished")
    probes = attempts(installation)[10 + in_flight - 1 : 10 + in_flight + 6]
    gaps = [later - earlier for earlier, later in pairwise(probes)]
    assert all(gap >= waited - 1 for gap, waited in zip(gaps, (10, 20, 40, 80, 160, 320), strict=True))
    assert (told["reason"], told["status"]) == ("Telegram does not answer", "sending")
    assert books["counts"]["unknown"] == in_flight + 5
    assert books["counts"]["sent"] == len(people) - in_flight - 5
    assert len(attempts(installation)) == len(people)
    assert set(installation.served().values()) == {1}
    assert Broadcast.objects.get().holds_in_a_row == 0


def test_a_refused_text_costs_one_call_and_the_mended_one_goes_to_everybody_and_the_old_one_to_nobody(
    installation: Installation,
) -> None:
    make_fundraiser(title="Зіпсований")
    people = installation.add_people(20)
    newcomer = 5005
    installation.sandbox.post("/control/chats", [{"chat_id": newcomer, "state": "new", "first_name": "Оля"}])
    description = "Bad Request: can't parse entities: Unsupported start tag"
    installation.fault({"status": 400, "description": description}, method="sendMessage", times=0)
    for _ in range(2):
        installation.worker()
    installation.beat()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_status("paused")
    cost = len(attempts(installation))
    installation.sandbox.delete("/control/faults")
    Fundraiser.objects.update(title="Виправлений")

    taken = installation.manage("broadcast", "refreeze")
    installation.manage("broadcast", "resume")
    installation.wait_for_count(Delivery.Status.SENT)
    too_late = installation.manage("broadcast", "refreeze")
    installation.bot()
    installation.sandbox.post("/control/say", {"chat_id": newcomer, "text": "/start"})

    installation.wait_until(lambda: newcomer in installation.served(), what="the newcomer to be served")
    installation.wait_for_status("finished")
    assert cost == 1
    assert (taken.returncode, too_late.returncode) == (0, 1)
    assert installation.served() == dict.fromkeys([*people, newcomer], 1)
    posts = [call["text"] for call in installation.sandbox.get("/control/ledger?method=sendMessage")]
    assert sum("Виправлений" in text for text in posts) == 21
    assert not any("Зіпсований" in text for text in posts)
