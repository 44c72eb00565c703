"""Who may send: one bot, one database. What it knows of itself, and what it may plan."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.conf import LazySettings
from django.db import connection

from delivery import control, locks, planning, reasons
from delivery.desk import Act
from delivery.history import Change
from delivery.models import Broadcast, SendingLock
from delivery.refusals import CannotChange, Locked
from posts import clock
from subscribers.models import PollingConflict
from tests.delivery.locking import ELSEWHERE, OTHER_TOKEN, YESTERDAY, make_lock, make_locked, reason
from tests.delivery.morning import DAY, MORNING
from tests.delivery.running import make_proven
from tests.delivery.together import together
from tests.delivery.traces import conditions, errors
from tests.factories import make_broadcast, make_fundraiser

pytestmark = pytest.mark.django_db


# Looking at ourselves.


def test_the_first_look_remembers_the_bot_and_the_database_and_locks_nothing() -> None:
    lock = locks.look(at=MORNING)

    assert (lock.bot_id, lock.is_sandbox, len(lock.home)) == (1024, True, 8)
    assert not lock.is_locked
    assert not locks.look(at=MORNING).is_locked


def test_another_bot_locks_pauses_what_runs_and_is_told_once(
    settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    make_lock()
    broadcast = make_proven()
    settings.TELEGRAM_BOT_TOKEN = OTHER_TOKEN

    locks.look(at=MORNING)
    locks.look(at=MORNING)

    broadcast.refresh_from_db()
    assert reason() == "this database belongs to another bot: 1024 / 2048"
    assert (broadcast.status, broadcast.reason) == ("paused", reasons.LOCKED)
    assert errors(caplog) == [locks.in_full(SendingLock.load())]
    assert conditions(caplog) == ["opens lock"]
    assert Change.objects.get(what="locked").reason == reason()


def test_a_real_bot_on_a_sandboxs_database_locks_even_with_the_same_number(settings: LazySettings) -> None:
    make_lock()
    settings.SANDBOX = False

    assert locks.look(at=MORNING).is_locked


def test_a_database_that_was_restored_elsewhere_locks() -> None:
    make_lock(home=ELSEWHERE)

    assert locks.look(at=MORNING).reason == reasons.RESTORED


def test_a_dump_restored_beside_its_original_has_another_home() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datallowconn")
        names = [name for (name,) in cursor.fetchall()]
        cursor.execute(locks._WHERE_WE_ARE.replace("datname = current_database()", "datallowconn"), {"offset": "0"})
        homes = [home for home, _ in cursor.fetchall()]

    assert len(set(homes)) == len(names) > 1


def test_a_testimony_that_is_compared_before_the_first_look_is_one() -> None:
    lock = locks.compare([locks.Testimony(3, YESTERDAY, ELSEWHERE)], at=MORNING)

    assert (lock.reason, lock.bot_id, lock.is_sandbox) == (reasons.ANOTHER, 1024, True)


def test_a_look_outside_counts_for_a_minute() -> None:
    at = clock.now()
    make_lock(witnessed_at=at)

    counts = [locks.look(at=at).is_witnessed(at=at + timedelta(seconds=seconds)) for seconds in (-1, 0, 59, 60, 3600)]

    assert counts == [False, True, True, False, False]


def test_a_look_outside_before_the_servers_start_does_not_count() -> None:
    at = datetime.fromisoformat("2020-01-01T00:00:00Z")
    make_lock(witnessed_at=at)

    assert not locks.look(at=at).is_witnessed(at=at)


def test_a_look_outside_goes_by_the_sandbox_clock(set_clock: Callable[[datetime], None]) -> None:
    set_clock(yesterday := clock.now() - timedelta(days=1))
    make_lock(witnessed_at=yesterday)

    assert locks.look(at=yesterday).is_witnessed(at=yesterday)


def test_another_time_zone_locks_until_a_person_means_it(settings: LazySettings) -> None:
    make_lock()
    settings.TIME_ZONE = "Pacific/Auckland"

    is_locked, reason = (lock := locks.look(at=MORNING)).is_locked, lock.reason
    locks.unlock(testimonies=[], by="Ольга", at=MORNING)

    assert is_locked
    assert reason == f"{reasons.OTHER_ZONE}: Europe/Kyiv / Pacific/Auckland"
    assert not locks.look(at=MORNING).is_locked


def test_a_lock_names_the_moment_of_the_look_whoever_looks(settings: LazySettings) -> None:
    looks: list[Callable[[], object]] = [
        lambda: locks.look(at=MORNING),
        lambda: locks.compare([], at=MORNING),
        lambda: locks.advance([], at=MORNING),
    ]
    for look in looks:
        SendingLock.objects.all().delete()
        make_lock(bot_id=2048)

        look()

        assert SendingLock.load().locked_at == MORNING


def test_what_is_witnessed_lasts_a_minute() -> None:
    make_lock()

    locks.mark_witnessed(at=MORNING)

    lock = SendingLock.load()
    assert lock.is_witnessed(at=MORNING)
    assert lock.is_witnessed(at=MORNING + timedelta(seconds=59))
    assert not lock.is_witnessed(at=MORNING + timedelta(seconds=60))


def test_another_bot_plans_nothing(settings: LazySettings) -> None:
    make_lock()
    settings.TELEGRAM_BOT_TOKEN = OTHER_TOKEN

    with pytest.raises(Locked):
        locks.refuse_planning(at=MORNING)

    assert SendingLock.load().locked_at == MORNING


@pytest.mark.django_db(transaction=True)
def test_many_first_looks_at_once_agree() -> None:
    looks = together(*[lambda: locks.look(at=MORNING).is_locked] * 8)

    assert looks == [False] * 8
    assert SendingLock.objects.count() == 1


# Planning.


@pytest.mark.parametrize(("lasts", "is_webhook", "refused"), [(90, False, False), (91, False, True), (0, True, True)])
def test_another_installation_that_lives_on_the_token_stops_the_planning(
    lasts: int,
    is_webhook: bool,  # noqa: FBT001
    refused: bool,  # noqa: FBT001
) -> None:
    PollingConflict.objects.create(
        since=MORNING - timedelta(seconds=lasts + 60), seen_at=MORNING - timedelta(seconds=60), is_webhook=is_webhook
    )
    refusal = None

    try:
        locks.refuse_planning(at=MORNING)
    except Locked as error:
        refusal = error

    assert bool(refusal) is refused


def test_a_locked_database_plans_nothing_by_hand_either() -> None:
    make_locked()
    make_fundraiser()

    with pytest.raises(Locked, match="sending is locked: another copy of this database has sent since"):
        planning.start_broadcast(at=MORNING, by="Ольга", now=True)

    assert not Broadcast.objects.exists()


def test_a_locked_database_resumes_nothing() -> None:
    broadcast = make_broadcast(date=DAY, status="paused", reason=reasons.LOCKED)
    make_locked()

    with pytest.raises(CannotChange, match="broadcast unlock"):
        control.resume(broadcast, by="Ольга", at=MORNING)


def test_what_to_do_names_the_desks_buttons_before_the_commands() -> None:
    buttons = [f"“{act.label}”" for act in (Act.CANCEL, Act.SKIP, Act.UNLOCK)]

    places = [locks.IN_FULL.find(words) for words in [*buttons, "`broadcast"]]

    assert -1 not in places
    assert places == sorted(places)
