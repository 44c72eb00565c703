"""The database refuses, never answers, or freezes in the midst: people are told, and the rows come later."""

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction

from donate1024.alerts import routes
from donate1024.alerts.folding import Folding, tell_due
from donate1024.alerts.models import LEASE, PERIOD, Alert
from donate1024.alerts.routes import Told
from posts import clock
from subscribers.admin_chats import AdminChat, Role
from tests.donate1024.alerts.conftest import CURATOR, ROOF, Clock, Phone
from tests.end_to_end.installation import wait_until
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def at(host: str, port: int) -> Iterator[None]:
    """New connections go there; this test's own stays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", host)
        patch.setitem(connection.settings_dict, "PORT", port)
        yield


@contextmanager
def refusing() -> Iterator[None]:
    with at("127.0.0.1", 9):
        yield


@contextmanager
def silent() -> Iterator[None]:
    """Connections are taken, as a frozen server's kernel does, and nothing more comes."""
    with socket.create_server(("127.0.0.1", 0)) as server, at(*server.getsockname()):
        yield


@contextmanager
def stuck() -> Iterator[None]:
    """It answers up to the first statement about alerts."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE alerts_alert IN ACCESS EXCLUSIVE MODE")
        yield


@pytest.mark.parametrize("away", [refusing, silent, stuck])
def test_without_the_database_it_is_told_once_and_written_down_later(
    log: logging.Logger, process: Folding, phone: Phone, away: Callable[[], AbstractContextManager[None]]
) -> None:
    connection.ensure_connection()

    with away():
        for places in range(100):
            log.error(ROOF, places, extra={"opens": "roof"})
        wait_until(lambda: len(phone.texts()) == 1, seconds=60, what="the alert")
        log.error(ROOF, 100, extra={"opens": "roof"})
    wait_until(lambda: Alert.objects.filter(count=101).exists(), seconds=60, what="the row")
    log.info("dry", extra={"closes": "roof"})

    wait_until(lambda: len(phone.texts()) == 2, seconds=60, what="the end")
    process.flush(within=30)
    assert [text[:1] for text in phone.texts()] == ["🔴", "✅"]
    alert = Alert.objects.get()
    assert (alert.count, alert.route, alert.tell_at) == (101, "telegram", None)


def test_what_began_and_ended_without_the_database_is_told_and_written_down(
    log: logging.Logger, process: Folding, phone: Phone, time: Clock
) -> None:
    with refusing():
        log.error(ROOF, 1, extra={"opens": "roof"})
        wait_until(lambda: len(phone.texts()) == 1, seconds=60, what="the first")
        process.flush(within=30)  # so that it counts as told now, and not a period later
        log.error(ROOF, 2, extra={"opens": "roof"})
        time.go_on(PERIOD)
        tell_due()
        wait_until(lambda: len(phone.texts()) == 2, seconds=60, what="the count")
        log.info("dry", extra={"closes": "roof"})
        wait_until(lambda: len(phone.texts()) == 3, seconds=60, what="the end")
        log.error(ROOF, 3, extra={"opens": "roof"})
        wait_until(lambda: len(phone.texts()) == 4, seconds=60, what="the next first")

    wait_until(lambda: Alert.objects.count() == 2, seconds=60, what="the rows")
    process.flush(within=30)
    assert [text[:1] for text in phone.texts()] == ["🔴", "🔁", "✅", "🔴"]
    assert sorted(Alert.objects.values_list("count", "told_count", "is_end_told")) == [(1, 1, False), (2, 2, True)]


def test_an_end_during_the_absence_closes_what_began_before(
    log: logging.Logger, process: Folding, phone: Phone
) -> None:
    log.error(ROOF, 1, extra={"opens": "roof"})
    process.flush(within=30)
    with refusing():
        log.info("dry", extra={"closes": "roof"})
        process.flush(within=30)

    wait_until(lambda: len(phone.texts()) == 2, seconds=60, what="the end")
    assert Alert.objects.get().recovered_at


def test_what_was_told_when_the_database_went_is_written_down_and_not_told_again(
    log: logging.Logger, process: Folding, phone: Phone, time: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = ExitStack()
    tell = routes.tell

    def tell_and_lose_the_database(*message: Any, **how: Any) -> Told:
        gone.enter_context(refusing())
        return tell(*message, **how)

    monkeypatch.setattr(routes, "tell", tell_and_lose_the_database)
    log.error(ROOF, 1, extra={"opens": "roof"})
    process.flush(within=30)
    gone.close()
    time.go_on(LEASE)
    tell_due()

    wait_until(lambda: Alert.objects.filter(route="telegram").exists(), seconds=60, what="the record")
    process.flush(within=30)
    assert len(phone.texts()) == 1


def test_a_table_that_does_not_fit_hides_no_alert_and_is_told_in_the_log(
    log: logging.Logger, process: Folding, phone: Phone, caplog: pytest.LogCaptureFixture
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE alerts_alert RENAME count TO number")
    try:
        log.error(ROOF, 1)
        wait_until(lambda: len(phone.texts()) == 1, seconds=60, what="the alert")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE alerts_alert RENAME number TO count")

    assert "The database does not take the alerts" in caplog.text


def test_linked_chats_are_known_without_the_database(
    log: logging.Logger, process: Folding, telegram: SandboxProcess, phone: Phone
) -> None:
    AdminChat.objects.create(chat_id=CURATOR, role=Role.CURATOR, linked_at=clock.now())
    curators = Phone(telegram, CURATOR)
    tell_due()
    process.flush(within=30)

    with refusing():
        log.error(ROOF, 1)
        process.flush(within=30)
        told, to_operator = curators.texts(), phone.texts()

    assert len(told) == len(to_operator) == 1
    assert "test_without_database.py" in to_operator[0]
    assert "test_without_database.py" not in told[0]


def test_who_is_told_stands_in_a_file_of_nobody_elses(
    process: Folding, telegram: SandboxProcess, settings: LazySettings
) -> None:
    tell_due()
    process.flush(within=30)

    assert (settings.STATE_DIR / "admin-chats.json").stat().st_mode & 0o777 == 0o600
