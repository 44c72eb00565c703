"""The pings to the monitor outside, by what a stand-in for it was asked."""

import logging
import socket
import time
from collections.abc import Iterator
from uuid import UUID

import pytest
from pytest_django import Settings

from donate1024.stack import ports
from donate1024.watch import outside_monitor
from donate1024.watch.outside_monitor import CONDITION, Hearing, watched
from tests.http_peer import HttpPeer

CHECK = "/d0c7e51f-1111-4222-8333-abcdefabcdef"


@pytest.fixture
def monitor(settings: Settings) -> Iterator[HttpPeer]:
    with HttpPeer() as peer:
        settings.HEARTBEAT_URL = peer.url + CHECK
        yield peer


def look(*faults: str, hearing: Hearing | None = None) -> None:
    with watched(hearing or Hearing()) as found:
        found.extend(faults)


def conditions(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [
        (how, getattr(record, how))
        for record in caplog.records
        for how in ("opens", "closes")
        if getattr(record, how, None)
    ]


def test_a_good_look_is_a_start_and_a_success_of_one_run(monitor: HttpPeer) -> None:
    look()

    assert [asked.method for asked in monitor.asked] == ["POST", "POST"]
    assert monitor.paths() == [f"{CHECK}/start", CHECK]
    (started,), (ended,) = (asked.query["rid"] for asked in monitor.asked)
    assert UUID(started) == UUID(ended)


def test_two_looks_are_two_runs(monitor: HttpPeer) -> None:
    look()
    look()

    assert monitor.asked[0].query["rid"] != monitor.asked[2].query["rid"]


def test_a_look_that_found_faults_is_a_failure_with_them_as_its_log(monitor: HttpPeer) -> None:
    look("The bot is silent.", "Черга стоїть.")

    failed = monitor.asked[1]
    assert failed.path == f"{CHECK}/fail"
    assert failed.body == "The bot is silent.\nЧерга стоїть."
    assert failed.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_look_that_raises_is_a_failure_and_goes_on_raising(monitor: HttpPeer) -> None:
    with pytest.raises(ZeroDivisionError), watched(Hearing()):
        raise ZeroDivisionError

    assert monitor.paths()[1] == f"{CHECK}/fail"
    assert "ZeroDivisionError" in monitor.asked[1].body


def test_the_addresss_own_query_stays(monitor: HttpPeer, settings: Settings) -> None:
    settings.HEARTBEAT_URL = f"{monitor.url}/ping-key/the-slug/?create=1&tag=a%26b"

    look("fault")

    assert monitor.paths() == ["/ping-key/the-slug/start", "/ping-key/the-slug/fail"]
    for asked in monitor.asked:
        assert asked.query["create"] == ["1"]
        assert asked.query["tag"] == ["a&b"]
        assert "rid" in asked.query


def test_the_log_is_redacted_and_shortened(monitor: HttpPeer, settings: Settings) -> None:
    settings.TELEGRAM_BOT_TOKEN = "123456789:AAF" + "x" * 32

    look(f"at {settings.TELEGRAM_BOT_TOKEN} " + "й" * 200_000)

    body = monitor.asked[1].body
    assert "AAF" not in body
    assert 99_000 < len(body.encode()) <= 100_000
    assert "\ufffd" not in body


def test_without_an_address_nothing_is_told(monitor: HttpPeer, settings: Settings) -> None:
    settings.HEARTBEAT_URL = ""

    look("fault")

    assert monitor.asked == []


def test_the_proxy_is_honoured(monitor: HttpPeer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.HEARTBEAT_URL = "http://monitor.invalid/check"
    monkeypatch.setenv("HTTP_PROXY", monitor.url)

    look()

    assert [asked.target.partition("?")[0] for asked in monitor.asked] == [
        "http://monitor.invalid/check/start",
        "http://monitor.invalid/check",
    ]


@pytest.mark.parametrize(
    "answer", [(200, "OK (not found)"), (200, "OK (rate limited)"), (404, "not found"), (301, ""), (502, "<html>")]
)
def test_only_a_whole_ok_counts_as_heard(
    monitor: HttpPeer, answer: tuple[int, str], caplog: pytest.LogCaptureFixture
) -> None:
    monitor.answer = lambda _: answer
    hearing = Hearing()

    for _ in range(3):
        look(hearing=hearing)

    assert conditions(caplog) == [("opens", CONDITION)]
    assert CHECK not in caplog.text


def test_three_misses_in_a_row_are_one_alert_and_the_next_success_ends_it(
    monitor: HttpPeer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    hearing = Hearing()
    look(hearing=hearing)
    caplog.clear()

    monitor.answer = lambda _: (500, "")
    for _ in range(2):
        look(hearing=hearing)
    assert conditions(caplog) == []
    for _ in range(3):
        look(hearing=hearing)
    assert conditions(caplog) == [("opens", CONDITION)]
    monitor.answer = lambda _: (200, "OK")
    for _ in range(2):
        look(hearing=hearing)

    assert conditions(caplog) == [("opens", CONDITION), ("closes", CONDITION)]


def test_a_new_process_ends_what_an_earlier_one_told(monitor: HttpPeer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    look(hearing=Hearing())

    assert conditions(caplog) == [("closes", CONDITION)]


def test_nobody_there_costs_nothing_and_raises_nothing(settings: Settings) -> None:
    settings.HEARTBEAT_URL = f"http://127.0.0.1:{ports.free()}/check"

    look("fault")


def test_a_monitor_that_hangs_holds_a_look_up_for_two_deadlines_at_most(
    monitor: HttpPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_monitor, "ANSWER_WITHIN", 0.3)
    monitor.is_hanging = True

    began = time.monotonic()
    look()

    assert len(monitor.asked) == 2
    assert time.monotonic() - began < 0.6 + 7  # a busy machine


def test_a_name_server_that_hangs_holds_it_up_no_longer(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.HEARTBEAT_URL = "http://monitor.invalid/check"
    monkeypatch.setattr(outside_monitor, "ANSWER_WITHIN", 0.3)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(10))

    began = time.monotonic()
    look()

    assert time.monotonic() - began < 0.6 + 7
