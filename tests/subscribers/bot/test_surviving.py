"""What the bot lives through: kills, a second bot, a database that goes, a Telegram that refuses."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg.sql import SQL, Identifier

from posts import clock
from subscribers.models import InboxUpdate, PollingConflict, Subscriber
from tests.donate1024.sandbox.conftest import call
from tests.end_to_end.installation import wait_until
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end


@contextmanager
def locked(table: str) -> Iterator[psycopg.Connection]:
    """Whoever reads or writes the table waits."""
    with other_session() as session, session.transaction():
        session.execute(SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(Identifier(table)))
        yield session


def nobody_can_subscribe() -> AbstractContextManager[psycopg.Connection]:
    return locked("subscribers_subscriber")


def other_session() -> psycopg.Connection:
    parameters = connection.get_connection_params()
    return psycopg.connect(
        host=parameters.get("host"), user=parameters.get("user"), dbname=parameters["dbname"], autocommit=True
    )


def test_a_kill_between_storing_and_handling_loses_nothing(own: Talk) -> None:
    olia = own.meet()
    bot = own.start_bot()
    with nobody_can_subscribe():
        own.say(olia, "/start")
        wait_until(InboxUpdate.objects.exists, what="the update to be stored")
        wait_until(lambda: own.polls() == 2, what="the next poll, which confirms it")
        bot.kill_group()

    own.start_bot()

    own.replies(olia)
    own.settle(1)
    assert own.subscriber(olia).is_active
    assert len(own.replies(olia)) == 1


def test_what_was_said_while_the_bot_was_down_counts(own: Talk) -> None:
    olia, taras = own.meet(), own.meet()
    own.start_bot().stop()
    own.say(olia, "/start", "/stop")
    own.say(taras, "/start")

    own.start_bot()

    own.replies(olia, 2)
    own.replies(taras)
    assert own.subscriber(olia).left_reason == Subscriber.LeftReason.STOPPED
    assert own.subscriber(taras).is_active


def test_a_second_bot_waits_and_takes_over(own: Talk) -> None:
    olia = own.meet()
    first = own.start_bot()
    second = own.installation.bot().wait_for("waiting for its end")
    own.say(olia, "/start")
    own.settle(1)
    conflicts = [one for one in own.sandbox.get("/control/calls") if one.get("status") == 409]

    first.kill_group()

    second.wait_for("The bot listens", seconds=5)
    own.say(olia, "/stop")
    assert len(own.replies(olia, 2)) == 2
    assert second.written().count("waiting for its end") == 1
    assert not conflicts


def test_a_bot_that_loses_the_database_comes_back_and_loses_nothing(own: Talk) -> None:
    olia = own.meet()
    bot = own.start_bot()
    with nobody_can_subscribe() as session:
        own.say(olia, "/start")
        wait_until(InboxUpdate.objects.exists, what="the update to be stored")

        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.close()

    own.replies(olia)
    own.settle(1)
    wait_until(lambda: bot.written().count("The bot listens") == 2, what="the bot to listen again", log=bot)
    assert own.subscriber(olia).is_active


def test_sigterm_finishes_what_is_in_hand(own: Talk) -> None:
    olia = own.meet()
    bot = own.start_bot()
    own.fault({"delay": 2}, method="sendMessage")
    own.say(olia, "/start")
    wait_until(Subscriber.objects.exists, what="the start to be handled")

    status = bot.stop(seconds=8)

    assert status == 0
    assert own.replies(olia)
    assert not InboxUpdate.objects.filter(handled_at=None).exists()


def test_sigterm_ends_a_bot_whose_database_hangs(own: Talk) -> None:
    olia = own.meet()
    bot = own.start_bot()
    with nobody_can_subscribe():
        own.say(olia, "/start")
        wait_until(InboxUpdate.objects.exists, what="the update to be stored")

        status = bot.stop(seconds=10)

    assert status == 0
    assert InboxUpdate.objects.filter(handled_at=None).exists()


def test_many_newcomers_at_once_are_all_welcomed_at_a_pace(own: Talk) -> None:
    own.sandbox.post("/control/rate", {"per_second": 30})
    people = [own.meet() for _ in range(60)]
    for person in people:
        own.say(person, "/start")

    own.start_bot()

    for person in people:
        own.replies(person)
    assert len([one for one in own.sandbox.get("/control/calls") if one.get("status") == 429]) < 5


def test_somebody_elses_polling_is_borne_in_growing_pauses(own: Talk) -> None:
    olia = own.meet()
    own.fault({"status": 409, "description": "Conflict: terminated by other getUpdates request"}, times=3)
    began = monotonic()

    bot = own.start_bot()
    own.say(olia, "/start")

    own.replies(olia, seconds=20)
    assert monotonic() - began > 1 + 2 + 4
    assert bot.written().count("No updates: ") == 1
    assert "ERROR" not in bot.written()
    assert PollingConflict.objects.another_installation(at=clock.now()) is None


def test_a_connection_that_is_dead_again_costs_ten_seconds_and_not_forty(own: Talk) -> None:
    own.fault({"status": 502}, method="getUpdates")
    own.fault({"hang": 100}, method="getUpdates", nth=2)
    olia = own.meet()
    own.say(olia, "/start")

    own.start_bot()

    own.replies(olia, seconds=35)


def test_minutes_of_somebody_elses_polling_are_one_alert_and_known_to_all(own: Talk) -> None:
    own.fault({"status": 409, "description": "Conflict: terminated by other getUpdates request"}, times=0)
    bot = own.start_bot()
    wait_until(PollingConflict.objects.exists, what="the conflict to be recorded", log=bot)
    for _ in range(4):
        own.installation.pass_time(80)  # with the longest pause it is still the same conflict
        later = PollingConflict.objects.filter(seen_at__gte=clock.now())
        wait_until(later.exists, seconds=60, what="the next poll", log=bot)
    lasting = PollingConflict.objects.another_installation(at=clock.now())

    own.sandbox.delete("/control/faults")
    own.installation.pass_time(60)
    own.say(own.meet(), "/start")

    bot.wait_for("Updates come again", seconds=60)
    wait_until(lambda: not PollingConflict.objects.exists(), what="the conflict to be over", log=bot)
    assert lasting is not None
    assert bot.written().count("No updates: ") == 1
    assert bot.written().count(" ERROR ") == 1
    assert "Another installation gets this bot's messages" in bot.written()


def test_a_conflict_that_cannot_be_written_down_stops_no_polling(own: Talk) -> None:
    own.fault({"status": 409, "description": "Conflict: terminated by other getUpdates request"})
    olia = own.meet()
    with locked("subscribers_pollingconflict"):
        own.start_bot()
        own.say(olia, "/start")

        own.replies(olia, seconds=20)


def test_a_refused_token_is_one_alert(own: Talk) -> None:
    own.fault({"status": 401}, times=0)

    bot = own.start_bot().wait_for("Telegram refuses the bot's token")

    assert bot.written().count(" ERROR ") == 1


def set_webhook(own: Talk, url: str) -> None:
    call(own.sandbox.url, f"setWebhook?url={url}")


def test_a_webhook_left_set_is_one_alert(own: Talk) -> None:
    set_webhook(own, "https://example.org/hook")
    olia = own.meet()

    bot = own.start_bot()
    wait_until(
        lambda: PollingConflict.objects.another_installation(at=clock.now()) is not None, what="the webhook", log=bot
    )
    set_webhook(own, "")
    own.say(olia, "/start")

    own.replies(olia, seconds=20)
    assert bot.written().count(" ERROR ") == 1
    assert "Updates come again" in bot.written()
    wait_until(lambda: not PollingConflict.objects.exists(), what="the conflict to be over", log=bot)


def test_the_token_stands_in_no_log(own: Talk) -> None:
    olia = own.meet()
    bot = own.start_bot()
    own.fault({"status": 502, "body": "<html>Bad Gateway</html>"}, method="getUpdates")
    own.fault("drop_after", method="sendMessage", chat_id=olia)
    own.say(olia, "/start")
    own.replies(olia)
    own.sandbox.kill()  # refused connections

    bot.wait_for("No updates: ").wait_for("A reply did not arrive")

    assert settings.TELEGRAM_BOT_TOKEN.partition(":")[2] not in bot.written()
