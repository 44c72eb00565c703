"""A person's word that this bot and this database are the right ones."""

from dataclasses import replace

import pytest
from django.conf import LazySettings

from delivery import locks, reasons
from delivery.history import Change
from delivery.models import Broadcast, SendingLock
from delivery.refusals import CannotChange
from tests.delivery.locking import ELSEWHERE, OTHER_TOKEN, home, make_lock, make_locked, told
from tests.delivery.morning import MORNING
from tests.delivery.running import make_proven

pytestmark = pytest.mark.django_db


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
