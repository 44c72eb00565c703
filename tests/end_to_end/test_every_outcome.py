"""Each row of the table of outcomes in a real run, alone and with all the others: the books equal the ledger."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from time import sleep

import pytest

from delivery import planning, reasons
from delivery.books import Books
from delivery.models import Broadcast, Delivery, UploadedPicture
from donate1024.sandbox import TOKEN, Json
from posts import clock
from posts.models import Picture
from subscribers.models import Subscriber
from tests.end_to_end.installation import Installation
from tests.end_to_end.judging import judge, latest_ids
from tests.end_to_end.outcomes import OUTCOMES, Outcome, add_groups, arrange, differences, faults_of, posted_to
from tests.factories import LONG_AGO, make_fundraiser, make_picture

pytestmark = pytest.mark.end_to_end

Status = Delivery.Status
CONTENT_REFUSED = {"status": 400, "description": "Bad Request: can't parse entities: Unsupported start tag"}
FILE_REFUSED = {"status": 400, "description": "Bad Request: wrong file identifier/HTTP URL specified"}
RATE = 200  # messages a second
IN_FLIGHT_MOST = 80  # at that rate, when Telegram is slow


@pytest.fixture
def quick(installation: Installation) -> Installation:
    """An installation at a high rate, with a picture to send, its worker and beat at work."""
    picture = make_picture()
    for _ in range(2):
        make_fundraiser(picture=picture, picture_alt="Авто")
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = str(RATE)
    installation.worker()
    installation.beat()
    return installation


def start() -> None:
    planning.start_broadcast(at=clock.now(), by="Оля", now=True)


def go_on_until(installation: Installation, is_so: Callable[[], bool], *, seconds: float = 60) -> None:
    """A person resumes the run whenever it waits for one, and nobody waits for the end of a hold."""

    def is_reached() -> bool:
        broadcast = Broadcast.objects.latest("date")
        if broadcast.status == Broadcast.Status.PAUSED:
            installation.manage("broadcast", "resume")
        elif broadcast.hold_until and (left := broadcast.hold_until - clock.now()) > timedelta(seconds=2):
            installation.pass_time(left.total_seconds())
        return is_so()

    installation.wait_until(is_reached, what="the run to come so far", seconds=seconds)


def go_through(installation: Installation, *, seconds: float = 60) -> Books:
    go_on_until(installation, lambda: installation.books()["status"] == "finished", seconds=seconds)
    return judge(installation)


def how_many(status: Status) -> int:
    return Delivery.objects.filter(status=status).count()


@pytest.mark.timeout(400)
def test_each_outcome_alone(quick: Installation) -> None:
    """One on each of many days, for two chats in between thirty others."""
    people = quick.add_people(30)
    for number, outcome in enumerate(OUTCOMES):
        first = 5001 + 10 * number
        struck = add_groups(quick, 2, first=-first) if outcome.is_group else quick.add_people(2, first=first)
        fates = dict.fromkeys(struck, outcome)
        arrange(quick, fates)

        start()

        go_through(quick)
        assert differences(quick, fates) == []
        assert {quick.served()[person] for person in people} == {number + 1}
        quick.sandbox.delete("/control/faults")
        Subscriber.objects.exclude(chat_id__in=people).update(left_at=LONG_AGO, left_reason="stopped")
        quick.pass_time(24 * 3600)


@pytest.mark.timeout(400)
def test_all_outcomes_mixed_among_two_thousand(quick: Installation) -> None:
    chance = random.Random(1024)  # noqa: S311
    people, groups = quick.add_people(1900, first=10_001), add_groups(quick, 100, first=-4001)
    chance.shuffle(people)
    chance.shuffle(groups)
    fates = {(groups if outcome.is_group else people).pop(): outcome for outcome in OUTCOMES for _ in range(4)}
    moving, removing, blocking = groups[:10], groups[10:20], people[:10]
    arrange(quick, fates)
    quick.fault({"status": 401}, method="sendPhoto", nth=300)

    start()
    quick.bot().wait_for("The bot listens")  # it hears only now of the groups that were upgraded before
    go_on_until(quick, lambda: how_many(Status.SENT) > 700)
    for name, chats in (("upgrade", moving), ("block", removing), ("block", blocking)):
        for chat in chats:
            quick.sandbox.post(f"/control/{name}", {"chat_id": chat})
    restart_telegram(quick, fates)
    quick.fault({"status": 404}, method="sendPhoto", nth=100)
    quick.fault(CONTENT_REFUSED, method="sendPhoto", nth=300)
    books = go_through(quick, seconds=200)

    rows = Delivery.objects.filter(status=Status.UNKNOWN).values_list("subscriber__chat_id", flat=True)
    in_flight = set(rows) - {chat for chat, outcome in fates.items() if outcome.status == Status.UNKNOWN}
    assert len(in_flight) <= IN_FLIGHT_MOST, "more are unknown than were in flight when Telegram was restarted"
    assert differences(quick, {chat: fates[chat] for chat in fates.keys() - in_flight}) == []
    assert books["recipients"] == 2000 + 4  # the supergroups that were subscribers already
    undisturbed = {*people, *groups} - {*moving, *removing, *blocking} - in_flight
    moved = {latest_ids(quick)[group] for group in moving} - in_flight
    assert undisturbed | moved <= posted_to(quick)


def restart_telegram(installation: Installation, fates: dict[int, Outcome]) -> None:
    """A second in which it refuses connections. It forgets the faults: they are laid anew on those who still wait."""
    installation.sandbox.kill()
    sleep(1)
    installation.sandbox.start()
    waiting = set(Delivery.objects.pending().values_list("subscriber__chat_id", flat=True))
    left = {chat: outcome for chat, outcome in fates.items() if chat in waiting}
    installation.sandbox.post("/control/faults", faults_of(left))


@pytest.mark.parametrize("refusal", [{"status": 401}, {"status": 404}, CONTENT_REFUSED], ids=["401", "404", "content"])
def test_what_is_refused_for_all_in_mid_run_waits_for_a_person_and_unsubscribes_nobody(
    quick: Installation, refusal: Json
) -> None:
    people = quick.add_people(200)
    quick.fault(refusal, method="sendPhoto", nth=50)

    start()

    quick.wait_for_status("paused")
    quick.wait_until(lambda: how_many(Status.SENDING) == 0, what="the open calls to end")
    books = judge(quick)
    assert books["counts"]["pending"] > 0
    assert books["counts"]["sent"] + books["counts"]["pending"] == 200
    assert Subscriber.objects.active().count() == 200
    assert go_through(quick)["counts"]["sent"] == 200
    assert posted_to(quick) == set(people)


def test_a_handle_of_another_time_is_uploaded_anew_once(quick: Installation) -> None:
    people = quick.add_people(100)
    picture = Picture.objects.get()
    bot_id = int(TOKEN.partition(":")[0])
    UploadedPicture.objects.create(bot_id=bot_id, picture=picture, file_id="AgACAgIAAxkBAAIB", uploaded_at=LONG_AGO)

    start()

    assert go_through(quick)["counts"]["sent"] == 100
    assert posted_to(quick) == set(people)
    assert [call["uploaded"] for call in quick.sandbox.get("/control/ledger?method=sendPhoto")].count(True) == 1


def test_a_handle_refused_twice_waits_for_a_person(quick: Installation) -> None:
    people = quick.add_people(100)
    quick.fault(FILE_REFUSED, method="sendPhoto", nth=30)

    start()

    quick.wait_for_status("paused")
    quick.wait_until(lambda: how_many(Status.SENDING) == 0, what="the open calls to end")
    assert judge(quick)["reason"] == reasons.PICTURE_REFUSED
    go_through(quick)
    assert posted_to(quick) == set(people)


def test_a_late_answer_counts_after_the_row_became_unknown(quick: Installation) -> None:
    people = quick.add_people(10)
    quick.fault({"delay": 8}, method="sendPhoto", chat_id=people[5])
    row = Delivery.objects.filter(subscriber__chat_id=people[5])

    start()
    quick.wait_until(lambda: how_many(Status.SENT) == 9, what="the others")
    quick.pass_time(181)

    quick.wait_until(row.filter(status=Status.UNKNOWN).exists, what="the row to become unknown")
    quick.wait_until(row.filter(status=Status.SENT).exists, what="the late answer")
    assert go_through(quick)["counts"]["sent"] == 10


@pytest.mark.parametrize("fate", ["close", "swallow"])
def test_connections_that_died_while_nobody_used_them_leave_nobody_unknown(quick: Installation, fate: str) -> None:
    people = quick.add_people(100)
    quick.sandbox.post("/control/idle-connections", {"fate": fate, "after": 3.5})
    quick.fault({"status": 429, "retry_after": 6}, method="sendPhoto", nth=50)

    start()

    quick.wait_for_status("finished")
    assert judge(quick)["counts"]["sent"] == 100
    assert posted_to(quick) == set(people)


@pytest.mark.parametrize("kind", ["no answers", "refused connections"])
def test_ten_minutes_of_outage_cost_at_most_ten_unknown_beyond_those_in_flight(quick: Installation, kind: str) -> None:
    people = quick.add_people(600)
    start()
    quick.wait_for_count(Status.SENT, least=50)

    began = clock.now()
    if kind == "no answers":
        quick.fault({"status": 502}, method="sendPhoto", times=0)
    else:
        quick.sandbox.kill()
    quick.wait_until(Broadcast.objects.filter(hold_until__gt=began).exists, what="a hold")
    quick.wait_until(lambda: how_many(Status.SENDING) == 0, what="the open calls to end")
    in_flight = how_many(Status.UNKNOWN)
    probes = wait_out(quick, began + timedelta(minutes=10))
    if kind == "no answers":
        quick.sandbox.delete("/control/faults")
    else:
        quick.sandbox.start()
    books = go_through(quick)

    assert in_flight <= IN_FLIGHT_MOST
    assert books["counts"]["unknown"] - in_flight <= 10
    assert 3 <= probes <= 10
    unknown = Delivery.objects.filter(status=Status.UNKNOWN).values_list("subscriber__chat_id", flat=True)
    assert posted_to(quick) >= set(people) - set(unknown)


def wait_out(installation: Installation, end: datetime) -> int:
    """Let the sandbox's clock go on to the end of the outage, from hold to hold; how many probes went in vain."""
    for probes in count():
        hold = Broadcast.objects.get().hold_until
        assert hold is not None
        installation.pass_time((min(hold, end) - clock.now()).total_seconds())
        if hold >= end:
            return probes
        longer = Broadcast.objects.filter(hold_until__gt=hold)
        installation.wait_until(longer.exists, what="the next hold")
    raise AssertionError("it goes on for ever")
