import html
import json
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote

import pytest
from pytest_django import Settings

from posts.redaction import ADDRESSES, SECRET_PATHS, SECRETS, redact

TOKEN = "987654321:AAH-tests-aaaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    for name in (*SECRETS, *ADDRESSES, *SECRET_PATHS):
        monkeypatch.delenv(name, raising=False)
        if hasattr(settings, name) and name != "SECRET_KEY":  # Django refuses to read an empty one
            setattr(settings, name, "")


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_replaced_by_its_settings_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "do-not-tell")

    assert redact("before do-not-tell after do-not-tell") == f"before [{name}] after [{name}]"


def test_a_secret_that_only_a_setting_knows_is_replaced(settings: Settings) -> None:
    settings.GEMINI_API_KEY = "only-in-the-settings"

    assert redact("key=only-in-the-settings") == "key=[GEMINI_API_KEY]"


@pytest.mark.parametrize(
    "spell",
    [
        lambda secret: quote(secret, safe=""),
        lambda secret: json.dumps(secret)[1:-1],
        lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
        lambda secret: repr(secret)[1:-1],
        lambda secret: repr(secret.encode())[2:-1],
        html.escape,
        lambda secret: html.escape(repr(secret)[1:-1]),
    ],
    ids=["address", "json", "json in utf-8", "repr", "bytes", "page", "repr on a page"],
)
@pytest.mark.parametrize("secret", ["p@ss/w&rd+", 'it\'s<"b\\ck">', "пароль-таємний"])
def test_every_spelling_of_a_secret_is_replaced(
    monkeypatch: pytest.MonkeyPatch, spell: Callable[[str], str], secret: str
) -> None:
    monkeypatch.setenv("METRICS_TOKEN", secret)

    assert redact(f"it is {spell(secret)}") == "it is [METRICS_TOKEN]"


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_password_of_an_address_is_replaced_within_it_and_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    address = "scheme://user:p%40ssw%2Ford@host:1234/name"
    monkeypatch.setenv(name, address)
    basic = b64encode(b"user:p@ssw/ord").decode()

    told = redact(f"{address} or p@ssw/ord or p%40ssw%2Ford or Basic {basic}")

    assert told == f"scheme://user:[password]@host:1234/name or [{name}] or [{name}] or Basic [{name}]"


@pytest.mark.parametrize("password", ["with/slash", "with[bracket", "with@sign", "with#hash", "\udcff-undecodable"])
def test_a_password_that_makes_its_address_wrong_is_replaced_all_the_same(
    monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("EMAIL_URL", f"smtp://user:{password}@host:587")

    assert redact(f"refused: {password}") == "refused: [EMAIL_URL]"


def test_a_password_in_an_address_that_no_setting_knows_is_replaced() -> None:
    told = redact("http://me:secret@proxy:8080/ redis://:secret@host/0 postgres://host:5432/name http://host:80/a@b")

    assert told == (
        "http://me:[password]@proxy:8080/ redis://:[password]@host/0 postgres://host:5432/name http://host:80/a@b"
    )


def test_the_path_of_the_outside_monitor_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTBEAT_URL", "https://monitor.example/ping/5f1c-secret?key=of-mine")

    told = redact("POST https://monitor.example/ping/5f1c-secret/start?key=of-mine")

    assert told == "POST https://monitor.example/[HEARTBEAT_URL]/start?[HEARTBEAT_URL]"


def test_the_secret_half_of_the_token_and_flowers_password_are_replaced_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "operator:flowers")
    basic = b64encode(b"operator:flowers").decode()

    told = redact(f"bot{TOKEN}/getMe {TOKEN.partition(':')[2]} operator:flowers flowers {basic}")

    assert told == (
        "bot[TELEGRAM_BOT_TOKEN]/getMe [TELEGRAM_BOT_TOKEN] [FLOWER_BASIC_AUTH] [FLOWER_BASIC_AUTH] [FLOWER_BASIC_AUTH]"
    )


@pytest.mark.parametrize("spelled", [TOKEN, quote(TOKEN), f"https://api.telegram.org/bot{TOKEN}/sendMessage"])
def test_a_token_that_no_setting_knows_is_replaced(spelled: str) -> None:
    told = redact(spelled)

    assert "[TELEGRAM_BOT_TOKEN]" in told
    assert "AAH" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '"GET /admin/first/MQ/d3sn9v-5e4f1b0c8a7d6e5f4a3b2c1d0e9f8a7b/ HTTP/1.1" 302',
            "/admin/first/[one-time]/ HTTP",
        ),
        ("https://t.me/our_bot?start=abcdefghij-KLMNOPQR_12 was printed", "https://t.me/our_bot?start=[one-time] was"),
        ("https://t.me/our_bot?startgroup=abcdefghij-KLMNOPQR_12", "startgroup=[one-time]"),
    ],
)
def test_a_one_time_link_is_replaced(text: str, told: str) -> None:
    assert told in redact(text)


def test_of_two_secrets_the_longer_one_is_replaced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_TOKEN", "secret")
    monkeypatch.setenv("GEMINI_API_KEY", "secret-and-longer")

    assert redact("secret-and-longer, secret") == "[GEMINI_API_KEY], [METRICS_TOKEN]"


def test_a_word_too_short_for_a_secret_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_TOKEN", "queue")

    assert redact("The queue is empty") == "The queue is empty"


def test_a_changed_secret_is_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_TOKEN", "the-old-one")
    redact("")

    monkeypatch.setenv("METRICS_TOKEN", "the-new-one")

    assert redact("the-new-one") == "[METRICS_TOKEN]"


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30 08:00:05,123 INFO delivery.sending: Slice 2 of broadcast 17 gave 25 permits",
        'File "/srv/delivery/sending.py", line 120, in send\n    raise OutcomeUnknown(error.message)',
        "GET /admin/first/MQ/choose/ and https://example.org/?start=2026-11-30",
        "12:34:56.789 at 2001:db8::1 and https://send.monobank.ua/jar/5f1cAbCdEf?a=100&t=донат",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
