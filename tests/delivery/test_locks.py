"""Who may send: one bot, one database, and no copy of it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection

from delivery import control, locks, planning, reasons
from delivery.history import Change
from delivery.models import Broadcast, DailySchedule, SendingLock
from delivery.refusals import CannotChange, Locked
from posts import clock
from subscribers.models import PollingConflict
from tests.delivery.morning import DAY, MORNING
from tests.delivery.running import make_proven
from tests.delivery.together import together
from tests.delivery.traces import conditions, errors
from tests.factories import make_broadcast, make_fundraiser, make_subscriber

pytestmark = pytest.mark.django_db

OTHER_TOKEN = "2048:another-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
ELSEWHERE = "0123abcd"
YESTERDAY = DAY - timedelta(days=1)


def home() -> str:
    """Which database this is."""
    return locks.look(at=MORNING).home


def told(number: int, **facts: Any) -> locks.Testimony:
    """What this database wrote outside."""
    return replace(locks.Testimony(number, YESTERDAY, home()), **facts)


def make_lock(**facts: Any) -> SendingLock:
    """As after some mornings of this bot on this database."""
    home()
    SendingLock.objects.update(**{"number": 7} | facts)
    return SendingLock.load()


def make_locked(reason: str = reasons.COPY, **facts: Any) -> SendingLock:
    return make_lock(reason=reason, locked_at=MORNING, **facts)


def reason() -> str:
    return SendingLock.load().reason


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


# Comparing with the outside.


def test_without_a_testimony_nothing_is_locked() -> None:
    make_lock()

    assert not locks.compare([], at=MORNING).is_locked


@pytest.mark.parametrize(
    ("number", "elsewhere", "expected"),
    [
        (6, False, ""),  # a write to Telegram that got lost
        (7, False, ""),
        (8, False, reasons.COPY),
        (10**15 - 1, False, reasons.COPY),
        (3, True, reasons.ANOTHER),
        (8, True, reasons.ANOTHER),
    ],
)
def test_a_testimony_of_somebody_else_locks(number: int, elsewhere: bool, expected: str) -> None:  # noqa: FBT001
    make_lock()

    locks.compare([told(number, **({"home": ELSEWHERE} if elsewhere else {}))], at=MORNING)

    assert reason() == expected


def test_each_chats_testimony_counts_in_any_order() -> None:
    make_lock()

    locks.compare([told(6), told(3, home=ELSEWHERE), told(7)], at=MORNING)

    assert reason() == reasons.ANOTHER


def test_a_number_that_was_committed_and_never_written_outside_does_not_lock() -> None:
    make_lock()
    locks.advance([told(7)], at=MORNING)  # then a kill

    written = locks.advance([told(7)], at=MORNING)

    assert written == told(9, day=DAY)


def test_a_locked_database_writes_nothing_outside() -> None:
    make_locked()

    assert locks.advance([], at=MORNING) is None
    assert SendingLock.load().number == 7


def test_a_day_that_another_copy_sent_is_not_planned_after_the_unlock() -> None:
    make_lock()
    make_fundraiser()
    make_subscriber()
    DailySchedule.objects.create(is_enabled=True, effective_from=MORNING - timedelta(days=1))

    locks.compare([told(8, day=DAY)], at=MORNING)
    locks.unlock(testimonies=[told(8, day=DAY)], by="Ольга", at=MORNING)
    planned = planning.plan_due_broadcast(at=MORNING)

    assert planned is None
    row = Broadcast.objects.get(date=DAY)
    assert (row.status, row.reason) == ("expired", reasons.SENT_ELSEWHERE)
    assert planning.start_broadcast(at=MORNING, by="Ольга", now=True).deliveries.count() == 1


def test_the_day_is_kept_from_planning_also_where_the_lock_came_first() -> None:
    make_locked(reason=reasons.RESTORED)

    locks.unlock(testimonies=[told(7, day=DAY, home=ELSEWHERE)], by="Ольга", at=MORNING)

    assert Broadcast.objects.get(date=DAY).reason == reasons.SENT_ELSEWHERE


def test_a_day_that_was_recorded_as_missed_before_the_look_outside_is_known_as_begun_elsewhere() -> None:
    make_lock()
    Broadcast.objects.create(date=DAY, status="expired", reason=reasons.MISSED)

    locks.compare([told(8, day=DAY)], at=MORNING)

    assert Broadcast.objects.get().reason == reasons.SENT_ELSEWHERE


def test_a_skip_in_a_copy_of_a_day_that_the_original_began_gives_nothing_back_to_the_hour() -> None:
    make_lock()
    Broadcast.objects.create(date=DAY, status="skipped", reason="ж" * 200)
    locks.compare([told(8, day=DAY)], at=MORNING)

    control.unskip(DAY, by="Ольга", at=MORNING)

    row = Broadcast.objects.get()
    assert (row.status, row.reason) == ("expired", reasons.SENT_ELSEWHERE)


def test_a_day_that_has_its_broadcast_keeps_it() -> None:
    make_lock()
    broadcast = make_broadcast(date=DAY)

    locks.compare([told(8, day=DAY)], at=MORNING)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("paused", reasons.LOCKED)


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


# Unlocking.


def test_an_unlocked_database_is_the_one_and_only_and_what_ran_stays_paused(settings: LazySettings) -> None:
    make_lock(home=ELSEWHERE)
    broadcast = make_proven()
    settings.TELEGRAM_BOT_TOKEN = OTHER_TOKEN
    locks.look(at=MORNING)

    locks.unlock(testimonies=[], by="Ольга", at=MORNING)

    lock, broadcast = locks.look(at=MORNING), Broadcast.objects.get()
    assert (lock.is_locked, lock.bot_id, lock.home, lock.witnessed_at) == (False, 2048, home(), None)
    assert broadcast.status == "paused"
    assert list(Change.objects.filter(broadcast=None).values_list("what", "by")) == [
        ("locked", ""),
        ("unlocked", "Ольга"),
    ]


def test_what_was_resumed_at_the_very_moment_of_the_lock_does_not_go_on_by_the_unlock() -> None:
    make_locked()
    broadcast = make_proven()

    locks.unlock(testimonies=[], by="Ольга", at=MORNING)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("paused", reasons.LOCKED)


def test_what_was_told_before_the_unlock_does_not_lock_again_and_what_comes_later_does() -> None:
    make_lock()
    locks.compare([told(8)], at=MORNING)

    locks.unlock(testimonies=[told(12)], by="Ольга", at=MORNING)
    known = locks.compare([told(12)], at=MORNING).is_locked
    newer = locks.compare([told(13)], at=MORNING).is_locked

    assert (known, newer) == (False, True)


@pytest.mark.parametrize("own", [2, 500])
def test_after_an_unlock_the_other_installation_locks_itself_and_not_both_for_ever(own: int) -> None:
    make_lock(number=own)
    theirs = told(10, home=ELSEWHERE)
    locks.compare([theirs], at=MORNING)

    locks.unlock(testimonies=[theirs], by="Ольга", at=MORNING)
    written = locks.advance([theirs], at=MORNING)

    assert written
    assert written.number > theirs.number
    SendingLock.objects.update(number=10, seen_number=0)  # now we are they
    assert locks.compare([replace(written, home=ELSEWHERE)], at=MORNING).is_locked


def test_an_unlock_that_could_not_ask_telegram_never_lets_more_pass_than_it_knew() -> None:
    make_lock(number=7, home=ELSEWHERE)
    locks.look(at=MORNING)

    locks.unlock(testimonies=[], by="Ольга", at=MORNING)
    own_past = locks.compare([told(7, home=ELSEWHERE)], at=MORNING).is_locked
    copy = locks.compare([told(8, home=ELSEWHERE)], at=MORNING).is_locked

    assert (own_past, copy) == (False, True)


def test_what_is_not_locked_is_not_unlocked() -> None:
    make_lock()

    with pytest.raises(CannotChange, match="sending is not locked"):
        locks.unlock(testimonies=[told(9)], by="Ольга", at=MORNING)

    assert SendingLock.load().number == 7


@pytest.mark.parametrize("was_sandbox", [True, False])
def test_sandbox_and_real_never_meet(settings: LazySettings, was_sandbox: bool) -> None:  # noqa: FBT001
    make_locked(is_sandbox=was_sandbox)
    settings.SANDBOX = not was_sandbox

    with pytest.raises(CannotChange, match="sandbox and real never meet"):
        locks.unlock(testimonies=[], by="Ольга", at=MORNING)

    assert SendingLock.load().is_locked
