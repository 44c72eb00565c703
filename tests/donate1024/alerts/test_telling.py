"""What people are told and when, by what their phone shows."""

import logging
from time import perf_counter
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.exceptions import DisallowedHost
from django.db import InternalError, OperationalError, connection, transaction
from kombu.exceptions import OperationalError as BrokerAway

from donate1024.alerts import routes
from donate1024.alerts.folding import Folding, tell_due
from donate1024.alerts.handler import AlertHandler
from donate1024.alerts.models import PERIOD, RETRY_AFTER, Alert
from donate1024.alerts.routes import Told
from tests.donate1024.alerts.conftest import CURATOR, ROOF, Clock, Phone
from tests.end_to_end.installation import wait_until
from tests.mail_server import MailServer
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)


def pass_a_period(time: Clock, process: Folding) -> None:
    time.go_on(PERIOD)
    tell_due()
    process.flush(within=30)


def test_a_storm_is_one_first_one_count_and_one_recovered(
    log: logging.Logger, process: Folding, phone: Phone, time: Clock
) -> None:
    began = perf_counter()
    for places in range(3000):
        log.error(ROOF, places, extra={"opens": "roof"})
    each = (perf_counter() - began) / 3000
    process.flush(within=30)
    pass_a_period(time, process)
    pass_a_period(time, process)
    log.info("dry", extra={"closes": "roof"})
    process.flush(within=30)
    pass_a_period(time, process)

    first, count, recovered = phone.texts()
    assert first.startswith("🔴 The roof leaks in 0 places.\n\nPeople get wet.\n\nWhat to do: take an umbrella.")
    assert count.startswith("🔁 The roof leaks in")
    assert ": 3000." in count
    assert "What to do: take an umbrella." in count
    assert recovered.startswith("✅ It is over: “The roof leaks in")
    assert "It lasted from 12:00 to 12:20." in recovered
    assert each < 0.002  # seconds: generous, the machine is busy
    alert = Alert.objects.get()
    assert (alert.count, alert.told_count, alert.route, alert.tell_at) == (3000, 3000, "telegram", None)


def test_what_ends_at_once_is_told_as_begun_and_over(log: logging.Logger, process: Folding, phone: Phone) -> None:
    log.error(ROOF, 1, extra={"opens": "roof"})
    process.flush(within=30)
    log.info("dry", extra={"closes": "roof"})
    process.flush(within=30)
    log.info("dry", extra={"closes": "roof"})
    process.flush(within=30)

    assert [text[:1] for text in phone.texts()] == ["🔴", "✅"]


def test_an_end_of_which_nobody_knows_the_beginning_says_nothing(
    log: logging.Logger, process: Folding, phone: Phone
) -> None:
    log.info("dry", extra={"closes": "roof"})
    process.flush(within=30)

    assert phone.texts() == []
    assert not Alert.objects.exists()


def test_what_came_once_is_told_once_and_tells_no_end(
    log: logging.Logger, process: Folding, phone: Phone, time: Clock
) -> None:
    log.error(ROOF, 1)
    process.flush(within=30)
    pass_a_period(time, process)
    pass_a_period(time, process)

    assert len(phone.texts()) == 1
    assert Alert.objects.get().recovered_at


def test_what_came_often_is_over_when_it_has_not_come_for_a_period_and_then_begins_anew(
    log: logging.Logger, process: Folding, phone: Phone, time: Clock
) -> None:
    for places in range(5):
        log.error(ROOF, places)
    process.flush(within=30)
    pass_a_period(time, process)
    pass_a_period(time, process)
    log.error(ROOF, 6)
    process.flush(within=30)

    assert [text[:1] for text in phone.texts()] == ["🔴", "🔁", "✅", "🔴"]
    assert "It has not come again for 10 minutes." in phone.texts()[2]


def test_two_kinds_are_two_alerts(log: logging.Logger, process: Folding, phone: Phone) -> None:
    log.error(ROOF, 1)
    log.error("The cellar is wet. Potatoes rot. What to do: pump.")
    process.flush(within=30)

    assert len(phone.texts()) == 2


def test_a_dead_token_sends_an_email(
    log: logging.Logger,
    process: Folding,
    telegram: SandboxProcess,
    phone: Phone,
    mail_server: MailServer,
) -> None:
    telegram.post("/control/faults", [{"method": "sendMessage", "fault": {"status": 401}}])

    log.error(ROOF, 1)
    process.flush(within=30)

    (mail,) = mail_server.mails
    assert mail["To"] == "curator@example.org"
    assert mail["Subject"] == "donate1024 🔴 The roof leaks in 1 places."
    assert "What to do: take an umbrella." in mail.get_payload(decode=True).decode()
    assert phone.texts() == []
    assert Alert.objects.get().route == "email"


@pytest.mark.parametrize("answer", ['{"ok": true, "result": {"message_id": 1}}', '{"ok": true, "result": []}'])
def test_an_answer_that_is_no_message_sends_an_email(
    log: logging.Logger, process: Folding, telegram: SandboxProcess, mail_server: MailServer, answer: str
) -> None:
    telegram.post("/control/faults", [{"method": "sendMessage", "fault": {"status": 200, "body": answer}}])

    log.error(ROOF, 1)
    process.flush(within=30)

    assert len(mail_server.mails) == 1


def test_without_a_chat_or_with_telegram_out_of_reach_it_goes_by_email(
    log: logging.Logger, process: Folding, settings: LazySettings, mail_server: MailServer
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = []
    log.error(ROOF, 1)
    process.flush(within=30)
    settings.TELEGRAM_ADMIN_CHATS, settings.TELEGRAM_API_URL = [1], "http://127.0.0.1:9"
    log.error("The cellar is wet. What to do: pump.")
    process.flush(within=30)

    assert len(mail_server.mails) == 2


def test_what_nobody_could_be_told_stays_and_is_told_when_a_route_is_back(
    log: logging.Logger,
    process: Folding,
    telegram: SandboxProcess,
    phone: Phone,
    mail_server: MailServer,
    time: Clock,
    settings: LazySettings,
) -> None:
    settings.TELEGRAM_API_URL, reachable = "http://127.0.0.1:9", settings.TELEGRAM_API_URL
    settings.EMAIL_PORT = 9
    log.error(ROOF, 1)
    log.error("The cellar is wet. What to do: pump.")
    process.flush(within=30)
    untold = list(Alert.objects.values_list("route", "told_at"))
    settings.TELEGRAM_API_URL = reachable
    time.go_on(2 * RETRY_AFTER)
    tell_due()
    process.flush(within=30)

    wait_until(lambda: len(phone.texts()) == 2, what="both to be told")
    assert untold == [("", None), ("", None)]
    assert set(Alert.objects.values_list("route", flat=True)) == {"telegram"}


def test_a_flood_wait_is_kept_and_sends_no_email(
    log: logging.Logger,
    process: Folding,
    telegram: SandboxProcess,
    phone: Phone,
    mail_server: MailServer,
) -> None:
    telegram.post("/control/faults", [{"method": "sendMessage", "fault": {"status": 429, "retry_after": 3}}])

    log.error(ROOF, 1)

    wait_until(lambda: len(phone.texts()) == 1, what="the alert after the wait")
    refused, sent = [call["at"] for call in telegram.get("/control/calls") if call["method"] == "sendMessage"][-2:]
    assert sent - refused >= 3
    assert mail_server.mails == []


def test_one_chat_that_blocked_the_bot_keeps_the_others_from_nothing(
    log: logging.Logger, process: Folding, telegram: SandboxProcess, phone: Phone, settings: LazySettings
) -> None:
    telegram.post("/control/chats", [{"chat_id": CURATOR, "state": "blocked"}])
    settings.TELEGRAM_ADMIN_CHATS = [CURATOR, *settings.TELEGRAM_ADMIN_CHATS]

    log.error(ROOF, 1)
    process.flush(within=30)

    assert len(phone.texts()) == 1
    assert Alert.objects.get().route == "telegram"


def test_a_group_that_became_a_supergroup_is_told_under_its_new_id(
    log: logging.Logger, process: Folding, telegram: SandboxProcess, settings: LazySettings
) -> None:
    telegram.post("/control/chats", [{"chat_id": -77, "type": "group", "state": "open"}])
    moved = telegram.post("/control/upgrade", {"chat_id": -77})["chat_id"]
    settings.TELEGRAM_ADMIN_CHATS = [-77]

    log.error(ROOF, 1)
    process.flush(within=30)

    assert len(telegram.sent_to(moved)) == 1


def test_of_several_none_is_held_while_another_is_told(
    log: logging.Logger, process: Folding, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    tell = routes.tell

    def tell_and_look(*message: Any, **how: Any) -> Told:
        with transaction.atomic():
            held.append(Alert.objects.filter(held_until__isnull=False).count())
        connection.close()  # this thread's own
        return tell(*message, **how)

    monkeypatch.setattr(routes, "tell", tell_and_look)
    for floor in range(4):
        log.error(ROOF, 1, extra={"opens": f"roof {floor}"})
    process.flush(within=60)

    assert held == [1, 1, 1, 1]
    assert len(phone.texts()) == 4


def test_what_is_deleted_while_it_is_told_keeps_the_others_from_nothing(
    log: logging.Logger, process: Folding, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = routes.tell

    def delete_and_tell(*message: Any, **how: Any) -> Told:
        Alert.objects.filter(key="roof 0").delete()
        connection.close()  # this thread's own
        return tell(*message, **how)

    monkeypatch.setattr(routes, "tell", delete_and_tell)
    for floor in range(3):
        log.error(ROOF, 1, extra={"opens": f"roof {floor}"})
    process.flush(within=60)

    assert len(phone.texts()) == 3
    assert Alert.objects.exclude(told_at=None).count() == 2


@pytest.mark.parametrize(
    ("name", "level", "error"),
    [
        ("django.security.DisallowedHost", logging.ERROR, DisallowedHost()),
        ("django.request", logging.ERROR, None),  # a page that says 503
        ("celery.worker.consumer.consumer", logging.ERROR, None),
        ("flower.events", logging.ERROR, None),
        ("kombu.connection", logging.ERROR, None),
        ("redis.connection", logging.ERROR, None),
        ("celery.app.trace", logging.ERROR, OperationalError()),
        ("celery.app.trace", logging.ERROR, InternalError()),  # it takes no writes
        ("celery.app.trace", logging.ERROR, BrokerAway()),
        ("posts", logging.WARNING, None),
        ("posts", logging.INFO, None),
    ],
)
def test_what_is_nobodys_business_alarms_nobody(
    handler: AlertHandler, process: Folding, name: str, level: int, error: Exception | None
) -> None:
    trace = (type(error), error, None) if error else None

    handler.handle(logging.LogRecord(name, level, __file__, 1, "It rains", None, trace))
    process.flush(within=30)

    assert not Alert.objects.exists()
