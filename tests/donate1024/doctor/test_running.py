"""What the doctor reads of the parts at work, and of whether a morning may go out."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from delivery import reasons
from delivery.models import DailySchedule, SendingLock
from donate1024.doctor import running
from donate1024.doctor.examining import Mend, Off
from donate1024.watch.models import Heartbeat
from donate1024.watch.rules import RULES
from posts import clock
from subscribers.models import PollingConflict
from subscribers.telegram.client import bot_id
from tests.donate1024.doctor.asking import ask, mended

HOUR = timedelta(hours=1)


def everybody_lives() -> None:
    """Beat, the bot, each queue and task: at work for an hour, and heard of just now."""
    for part in {rule.part for rule in RULES} - {"database", "valkey", "deliveries", "morning"}:
        Heartbeat.objects.create(name=part, at=Now(), since=Now() - HOUR)


@pytest.mark.django_db(transaction=True)
def test_parts_that_give_signs_of_life_are_well() -> None:
    everybody_lives()

    assert ask(running.processes).state == "ok"
    assert ask(running.hearing).state == "ok"


@pytest.mark.django_db(transaction=True)
def test_a_part_that_fell_silent_is_named_as_its_alert_names_it() -> None:
    everybody_lives()
    Heartbeat.objects.filter(name="bot").update(at=Now() - timedelta(minutes=5))

    said = mended(running.processes)

    assert said.startswith("The bot has not answered for 5 min. ")
    assert "beat" not in said


@pytest.mark.django_db(transaction=True)
def test_a_bot_that_runs_and_hears_nothing_is_no_process_that_stands_still() -> None:
    everybody_lives()
    Heartbeat.objects.filter(name="polling").delete()

    assert ask(running.processes).state == "ok"
    assert mended(running.hearing).startswith("polling: no sign of life yet, though Telegram answers. ")

    Heartbeat.objects.filter(name="bot").update(at=Now() - timedelta(minutes=5))

    assert ask(running.hearing).text == "the bot does not run"


@pytest.mark.django_db(transaction=True)
def test_of_what_stands_still_for_one_reason_the_reason_alone_is_named() -> None:
    everybody_lives()
    Heartbeat.objects.exclude(name__in=["bot", "polling", "web"]).update(at=Now() - timedelta(minutes=7))

    said = mended(running.processes)

    assert said.startswith("The part that keeps the time has stood still for 7 min. `make run`")


@pytest.mark.django_db(transaction=True)
def test_a_silent_part_is_named_whatever_is_in_doubt_beside_it() -> None:
    everybody_lives()
    Heartbeat.objects.filter(name="beat").update(at=Now() - timedelta(seconds=60))
    Heartbeat.objects.filter(name="queue:telegram").update(at=Now() - timedelta(minutes=10))

    assert mended(running.processes).startswith("The part that writes to subscribers has not answered for 10 min. ")


@pytest.mark.django_db(transaction=True)
def test_where_nothing_has_ever_run_it_says_how_to_start() -> None:
    assert "`make run` starts what does not run" in mended(running.processes)


@pytest.mark.django_db(transaction=True)
def test_in_the_first_minute_nobody_is_missed() -> None:
    Heartbeat.objects.create(name="bot", at=Now(), since=Now() - timedelta(seconds=20))
    Heartbeat.objects.create(name="task:delivery.sweep", at=Now() - 8 * HOUR, since=Now() - 9 * HOUR)

    assert ask(running.processes).state == "ok"


@pytest.mark.django_db
def test_a_schedule_that_is_off_says_so() -> None:
    with pytest.raises(Off, match="nothing goes out by itself"):
        running.schedule()
    schedule = DailySchedule.load()
    with pytest.raises(Off, match="nothing goes out by itself"):
        running.schedule()

    schedule.is_enabled = True
    schedule.save()

    assert "every day at 08:00" in running.schedule()


@pytest.mark.django_db
def test_an_open_lock_is_well_and_a_fallen_one_says_why() -> None:
    assert running.sending_lock() == "open"
    SendingLock.load()
    assert running.sending_lock() == "open"

    SendingLock.objects.update(locked_at=clock.now(), reason=reasons.RESTORED)

    with pytest.raises(Mend, match=r"sending is locked: .+\. docs/operations\.md"):
        running.sending_lock()


@pytest.mark.django_db
def test_another_bots_database_is_named_before_it_locks() -> None:
    SendingLock.load()
    SendingLock.objects.update(bot_id=bot_id())
    assert running.sending_lock() == "open"

    SendingLock.objects.update(bot_id=bot_id() + 1)

    with pytest.raises(Mend, match="another bot"):
        running.sending_lock()


@pytest.mark.django_db
def test_somebody_else_who_gets_the_messages_is_named() -> None:
    assert "nobody else" in running.polling()
    at = clock.now()

    PollingConflict.objects.seen(is_webhook=False, at=at - timedelta(seconds=100))
    PollingConflict.objects.seen(is_webhook=False, at=at)
    with pytest.raises(Mend, match="another installation"):
        running.polling()

    PollingConflict.objects.seen(is_webhook=True, at=at)
    with pytest.raises(Mend, match="a webhook"):
        running.polling()
