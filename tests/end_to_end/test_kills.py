"""Whatever is killed: nobody twice, nobody forgotten, and what cannot be known is said so."""

import pytest

from delivery.models import Delivery
from donate1024.stack import environment
from donate1024.stack.embedded import Valkey
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser

pytestmark = pytest.mark.end_to_end


@pytest.mark.parametrize("has_accepted", [True, False], ids=["after Telegram accepted", "before Telegram accepted"])
def test_a_worker_killed_while_sending_leaves_at_most_its_open_calls_unknown(
    installation: Installation, *, has_accepted: bool
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    worker = installation.worker()
    assert installation.manage("broadcast", "start", "--now").returncode == 0
    installation.wait_for_count(Delivery.Status.SENT, least=10)
    # Everybody's reply is late from here on: by then the message is out, or it is not.
    installation.fault({"delay" if has_accepted else "hang": 5}, method="sendMessage", times=4)
    installation.wait_for_count(Delivery.Status.SENDING, least=4)

    worker.kill_group()

    open_calls = set(Delivery.objects.filter(status=Delivery.Status.SENDING).values_list("pk", flat=True))
    assert open_calls
    installation.sandbox.delete("/control/faults")
    installation.worker()
    installation.beat()
    installation.pass_time(41)  # the killed slices' slots lapse
    installation.wait_until(lambda: Delivery.objects.pending().count() == 0, what="the rest to be sent")
    installation.pass_time(3 * 60 + 1)
    books = installation.wait_for_status("finished")
    unknown = set(Delivery.objects.filter(status=Delivery.Status.UNKNOWN).values_list("pk", flat=True))
    assert unknown == open_calls
    assert books["counts"]["sent"] == len(people) - len(unknown)
    served = installation.served()
    assert max(served.values()) == 1
    not_served = set(people) - set(served)
    assert len(not_served) <= len(unknown)


def test_a_worker_that_is_stopped_gives_back_what_it_has_not_begun(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    worker = installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_for_count(Delivery.Status.SENT, least=10)

    assert worker.stop() == 0

    counts = installation.books()["counts"]
    assert counts["sending"] == counts["unknown"] == 0
    assert counts["pending"] > 0
    installation.worker()
    installation.beat()
    installation.wait_for_status("finished")
    assert installation.served() == dict.fromkeys(people, 1)


def test_a_worker_whose_broker_dies_under_it_goes_on_working(installation: Installation) -> None:
    state = installation.folder / "broker"
    state.mkdir()
    make_fundraiser()
    people = installation.add_people(80)
    with Valkey(state) as broker:
        installation.env["REDIS_URL"] = environment.redis_url(state)
        worker = installation.worker()
        assert installation.manage("broadcast", "start", "--now").returncode == 0
        installation.wait_for_count(Delivery.Status.SENT, least=10)

        assert broker.process is not None
        broker.process.kill()
        broker.process.wait()
        counts = installation.books()["counts"]
        broker.start()

        assert counts["pending"] > 0
        worker.wait_for("Connection to broker lost")
        installation.beat()
        installation.wait_for_status("finished")
        assert worker.is_alive
        assert installation.served() == dict.fromkeys(people, 1)
        assert worker.written().count("delivery.send_slice") > 2  # it did take new work from the new broker
        worker.end()
