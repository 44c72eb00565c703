"""Links and buttons, as td checks them (LinkManager::check_link_impl, get_inline_keyboard_button)."""

import contextlib
import json

import pytest
from hypothesis import given, strategies as st

from donate1024.sandbox import Json
from donate1024.sandbox.keyboards import inline_keyboard
from donate1024.sandbox.links import WrongLink, checked
from donate1024.sandbox.refusals import Refused


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://send.monobank.ua/jar/abc", "https://send.monobank.ua/jar/abc"),
        ("send.monobank.ua/jar/abc", "http://send.monobank.ua/jar/abc"),
        ("HTTPS://X.UA?a=b c", "https://x.ua/?a=b%20c"),
        ("https://приклад.укр/збір?а=1&b=2", "https://приклад.укр/збір?а=1&b=2"),
        ("https://x.ua/a ", "https://x.ua/a"),
        ("https://u:p@x.ua:0443#f", "https://u:p@x.ua:443/#f"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("tg://user?id=1", "tg://user?id=1"),
        ("TG:resolve?domain=x", "tg://resolve?domain=x"),
    ],
)
def test_a_link_is_shown_as_telegram_shows_it(link: str, shown: str) -> None:
    assert checked(link) == shown


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("", "URL host is empty"),
        ("not-a-url", "Wrong HTTP URL"),
        ("http://localhost:8000/", "Wrong HTTP URL"),
        ("ftp://example.com", "Unsupported URL protocol"),
        ("monobank://jar", "Unsupported URL protocol"),
        ("javascript:alert(1)", "Wrong port number specified in the URL"),
        ("https://x.ua:65536/", "Wrong port number specified in the URL"),
        ("https://x.ua /", "Wrong URL host"),
        ("https://x%zz.ua/", "Wrong URL host"),
        ("https://[::z]/", "Wrong IPv6 address specified in the URL"),
        ("https://./", "Host is invalid"),
        ("tg://a.b", "Wrong tg URL"),
    ],
)
def test_a_link_that_telegram_refuses_is_refused_in_its_words(link: str, reason: str) -> None:
    with pytest.raises(WrongLink) as refused:
        checked(link)

    assert str(refused.value) == reason


@given(st.text() | st.text(st.sampled_from("htps:/@[].?#%1ї ")))
def test_no_link_crashes(link: str) -> None:
    with contextlib.suppress(WrongLink):
        assert checked(checked(link)) == checked(link)


TWO_KINDS = "the sandbox takes exactly one of url, callback_data and copy_text on a button"
NO_KIND = "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"


def keyboard(*buttons: Json) -> str:
    return json.dumps({"inline_keyboard": [list(buttons)]})


def test_each_kind_of_button_is_taken() -> None:
    buttons: list[Json] = [
        {"text": "дати", "url": "https://x.ua/"},
        {"text": "так", "callback_data": "ї" * 32},
        {"text": "картка", "copy_text": {"text": "4441"}},
    ]

    assert inline_keyboard(keyboard(*buttons)) == {"inline_keyboard": [buttons]}


@pytest.mark.parametrize("markup", ["", '{"inline_keyboard": []}', '{"inline_keyboard": [[]]}'])
def test_an_empty_keyboard_is_none(markup: str) -> None:
    assert inline_keyboard(markup) is None


@pytest.mark.parametrize(
    ("button", "reason"),
    [
        ({"text": "x", "url": "ftp://x"}, "inline keyboard button URL 'ftp://x' is invalid: Unsupported URL protocol"),
        ({"text": "x", "url": "https://x.ua/" + "a" * 3000}, "BUTTON_URL_INVALID"),
        ({"text": "x", "callback_data": "ї" * 33}, "BUTTON_DATA_INVALID"),
        ({"text": "x", "copy_text": {"text": "x" * 257}}, "BUTTON_COPY_TEXT_INVALID"),
        ({"text": " ", "callback_data": "x"}, "inline keyboard button text must be non-empty"),
        ({"callback_data": "x"}, "inline keyboard button text must be non-empty"),
        ({"text": "x"}, NO_KIND),
        ({"text": "x", "callback_data": ""}, NO_KIND),
        ({"text": "x", "callback_data": "x", "url": "https://x.ua"}, TWO_KINDS),
        ({"text": "x", "web_app": {"url": "https://x.ua"}}, TWO_KINDS),
    ],
)  # fmt: skip
def test_a_button_that_telegram_refuses_is_refused_in_its_words(button: Json, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        inline_keyboard(keyboard(button))

    assert refused.value.description == f"Bad Request: {reason}"


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("{", "can't parse reply keyboard markup JSON object"),
        ("[]", "object expected as reply markup"),
        ('{"keyboard": [["x"]]}', "the sandbox shows inline keyboards only"),
        ('{"inline_keyboard": {}}', 'can\'t parse inline keyboard: Field "inline_keyboard" must be an Array of Arrays'),
        ('{"inline_keyboard": [["x"]]}', "can't parse inline keyboard button: expected an Object"),
        (keyboard(*[{"text": "x", "callback_data": "x"}] * 101), "reply markup is too long"),
    ],
)
def test_a_keyboard_that_is_none_is_refused(markup: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        inline_keyboard(markup)

    assert refused.value.description == f"Bad Request: {reason}"
