"""What the bot lives through: kills, a second bot, a database that goes, a Telegram that refuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from subscribers.models import InboxUpdate, Subscriber
from tests.end_to_end.installation import wait_until
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end


@contextmanager
def nobody_can_subscribe() -> Iterator[psycopg.Connection]:
    """The table is locked: whoever handles a /start waits."""
    with other_session() as session, session.transaction():
        session.execute("LOCK TABLE subscribers_subscriber IN ACCESS EXCLUSIVE MODE")
        yield session


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
    conflicts = [call for call in own.sandbox.get("/control/calls") if call.get("status") == 409]

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
    assert len([call for call in own.sandbox.get("/control/calls") if call.get("status") == 429]) < 5


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


def test_a_refused_token_is_one_alert(own: Talk) -> None:
    own.fault({"status": 401}, times=0)

    bot = own.start_bot().wait_for("Telegram refuses the bot's token")

    assert bot.written().count(" ERROR ") == 1


def test_a_webhook_left_set_is_one_alert(own: Talk) -> None:
    own.fault({"status": 409, "description": "Conflict: can't use getUpdates method while webhook is active"}, times=3)
    olia = own.meet()

    bot = own.start_bot()
    own.say(olia, "/start")

    own.replies(olia, seconds=20)
    assert bot.written().count(" ERROR ") == 1
    assert "Updates come again" in bot.written()


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
