"""What the doctor says of the mail server, the monitor, Bluesky and Gemini, by what stand-ins for them answer."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from donate1024.doctor import outside
from donate1024.stack import ports
from tests.donate1024.doctor.asking import ask, mended
from tests.donate1024.doctor.mail_server import PASSWORD, mail_server
from tests.donate1024.doctor.services import as_bluesky, as_gemini
from tests.http_peer import HttpPeer

KEY_IS_WRONG = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}
NO_SUCH_MODEL = {"error": {"code": 404, "message": "not found", "status": "NOT_FOUND"}}


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    with HttpPeer() as peer:
        yield peer


# The second route


@pytest.fixture
def mail(settings: Settings) -> Iterator[Settings]:
    settings.ALERT_EMAILS = ["people@example.org"]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "user", PASSWORD
    with mail_server() as port:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        yield settings


def test_without_a_second_route_it_says_what_that_means(settings: Settings) -> None:
    settings.ALERT_EMAILS = []

    finding = ask(outside.second_route)

    assert finding.state == "off"
    assert "EMAIL_URL" in finding.text


def test_a_mail_server_that_takes_the_login_is_well(mail: Settings) -> None:
    finding = ask(outside.second_route)

    assert finding.state == "ok"
    assert "people@example.org" in finding.text


def test_a_mail_server_that_refuses_the_login_is_named(mail: Settings) -> None:
    mail.EMAIL_HOST_PASSWORD = "wrong-password"

    said = mended(outside.second_route)

    assert "refuses the login" in said
    assert "wrong-password" not in said


def test_a_mail_server_that_is_away_is_named(mail: Settings) -> None:
    mail.EMAIL_PORT = ports.free()

    assert "EMAIL_URL" in mended(outside.second_route)


# The outside monitor


def test_without_a_monitor_nobody_watches(settings: Settings) -> None:
    settings.HEARTBEAT_URL = ""

    finding = ask(outside.monitor)

    assert finding.state == "off"
    assert "nobody watches" in finding.text


def test_a_monitor_is_asked_by_a_log_which_changes_nothing_there(settings: Settings, peer: HttpPeer) -> None:
    settings.HEARTBEAT_URL = f"{peer.url}/check"

    assert ask(outside.monitor).state == "ok"
    assert peer.paths() == ["/check/log"]


def test_a_monitor_without_that_check_is_named(settings: Settings, peer: HttpPeer) -> None:
    settings.HEARTBEAT_URL = f"{peer.url}/check"
    peer.answer = lambda _: (200, "OK (not found)")

    assert "not found" in mended(outside.monitor)


# Bluesky


@pytest.fixture
def bluesky(settings: Settings, peer: HttpPeer) -> HttpPeer:
    settings.BLUESKY_HANDLE, settings.BLUESKY_APP_PASSWORD = "name.example.org", "abcd-efgh-ijkl-mnop"
    settings.BLUESKY_URL = peer.url
    peer.answer = as_bluesky
    return peer


def test_a_bluesky_login_reads_no_profile(bluesky: HttpPeer) -> None:
    finding = ask(outside.bluesky)

    assert finding.state == "ok", finding
    assert bluesky.paths() == ["/xrpc/com.atproto.server.createSession"]


def test_a_bluesky_password_that_is_refused_is_named(bluesky: HttpPeer) -> None:
    bluesky.answer = lambda _: (401, {"error": "AuthenticationRequired", "message": "Invalid identifier or password"})

    assert "app password" in mended(outside.bluesky)


def test_too_many_bluesky_logins_are_a_matter_of_patience(bluesky: HttpPeer) -> None:
    bluesky.answer = lambda _: (429, {"error": "RateLimitExceeded", "message": "Rate Limit Exceeded"})

    assert "in some minutes" in mended(outside.bluesky)


@pytest.mark.parametrize("answer", [(502, "<html>"), (500, {"error": "InternalServerError"}), (200, "<html>")])
def test_a_broken_bluesky_is_named(bluesky: HttpPeer, answer: tuple[int, object]) -> None:
    bluesky.answer = lambda _: answer

    assert "Look there" in mended(outside.bluesky)


def test_a_bluesky_that_hangs_is_named(bluesky: HttpPeer) -> None:
    bluesky.is_hanging = True

    finding = ask(outside.bluesky)

    assert "Timeout" in finding.text
    assert not finding.is_hung


# Gemini


@pytest.fixture
def gemini(settings: Settings, peer: HttpPeer) -> HttpPeer:
    settings.GEMINI_API_KEY, settings.GEMINI_API_URL = "AIzaSyNobodysKey", peer.url
    settings.GEMINI_MODEL, settings.GEMINI_FALLBACK_MODEL = "gemini-new", "gemini-old"
    peer.answer = as_gemini
    return peer


def test_gemini_is_off_without_a_key(settings: Settings) -> None:
    settings.GEMINI_API_KEY = ""

    assert ask(outside.gemini).state == "off"


def test_gemini_is_asked_for_both_models_with_the_key(gemini: HttpPeer) -> None:
    finding = ask(outside.gemini)

    assert finding.state == "ok", finding
    assert [path.rpartition("/")[2] for path in gemini.paths()] == ["gemini-new", "gemini-old"]
    assert {asked.headers["x-goog-api-key"] for asked in gemini.asked} == {"AIzaSyNobodysKey"}


def test_a_gemini_key_that_is_refused_is_named(gemini: HttpPeer) -> None:
    gemini.answer = lambda _: (400, KEY_IS_WRONG)

    said = mended(outside.gemini)

    assert "GEMINI_API_KEY" in said
    assert "AIza" not in said


def test_a_gemini_model_that_is_gone_is_named_with_its_setting(gemini: HttpPeer) -> None:
    gemini.answer = lambda asked: (404, NO_SUCH_MODEL) if asked.path.endswith("old") else (200, {"name": "x"})

    said = mended(outside.gemini)

    assert "gemini-old" in said
    assert "GEMINI_FALLBACK_MODEL" in said


@pytest.mark.parametrize("answer", [(503, {"error": {"code": 503}}), (502, "<html>"), (200, "<html>")])
def test_a_broken_gemini_is_named(gemini: HttpPeer, answer: tuple[int, object]) -> None:
    gemini.answer = lambda _: answer

    assert "Look there" in mended(outside.gemini)


def test_a_gemini_that_hangs_is_named(gemini: HttpPeer) -> None:
    gemini.is_hanging = True

    finding = ask(outside.gemini)

    assert "Timeout" in finding.text
    assert not finding.is_hung
