"""The operator's lists of subscribers and of admin chats."""

from datetime import UTC, datetime

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from subscribers.admin_chats import AdminChat, Role
from tests.factories import make_subscriber

pytestmark = pytest.mark.django_db

LIST = "/admin/subscribers/subscriber/"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return client


@pytest.mark.parametrize(
    ("query", "found"), [("q=5134861499", True), ("q=Оля", True), ("q=olia", True), ("q=77", False)]
)
def test_people_are_found_by_id_and_by_name(operator: Client, query: str, *, found: bool) -> None:
    make_subscriber(chat_id=5134861499, first_name="Оля", username="olia")

    page = operator.get(f"{LIST}?{query}").content.decode()

    assert ("5134861499</a>" in page) == found


@pytest.mark.parametrize(("active", "shown", "hidden"), [("yes", "101", "102"), ("no", "102", "101")])
def test_those_who_left_are_filtered(operator: Client, active: str, shown: str, hidden: str) -> None:
    make_subscriber(chat_id=101)
    make_subscriber(chat_id=102, left_reason="stopped")

    page = operator.get(f"{LIST}?active={active}").content.decode()

    assert f"{shown}</a>" in page
    assert f"{hidden}</a>" not in page


@pytest.mark.parametrize("act", ["add", "change", "delete"])
def test_nobody_is_written_in_or_off_by_hand(operator: Client, act: str) -> None:
    person = make_subscriber(left_reason="stopped")
    arguments = [] if act == "add" else [person.pk]

    answer = operator.post(reverse(f"admin:subscribers_subscriber_{act}", args=arguments), {"post": "yes"})

    person.refresh_from_db()
    assert answer.status_code == 403
    assert not person.is_active


CHATS = "/admin/subscribers/adminchat/"


def link(chat_id: int, name: str = "") -> AdminChat:
    return AdminChat.objects.create(
        chat_id=chat_id, name=name, role=Role.CURATOR, linked_at=datetime(2026, 3, 29, tzinfo=UTC)
    )


def test_admin_chats_are_listed_by_name_and_role(operator: Client) -> None:
    link(101, "Оля <3")

    page = operator.get(CHATS).content.decode()

    assert "Оля &lt;3" in page
    assert "curator" in page
    assert "These chats are told" in page


def test_the_list_says_whom_the_settings_name_and_that_nobody_is_told(operator: Client, settings: LazySettings) -> None:
    empty = operator.get(CHATS).content.decode()
    settings.TELEGRAM_ADMIN_CHATS = [7, 8]

    page = operator.get(CHATS).content.decode()

    assert "Nobody is told in Telegram" in empty
    assert "2 more chats are named in TELEGRAM_ADMIN_CHATS" in page
    assert "Nobody is told in Telegram" not in page


def test_a_chat_is_unlinked_after_it_was_asked(operator: Client) -> None:
    chat = link(101, "Оля")
    link(102)
    address = f"{CHATS}{chat.pk}/delete/"

    asked = operator.get(address).content.decode()
    before = AdminChat.objects.count()
    operator.post(address, {"post": "yes"})

    assert "Unlink Оля?" in asked
    assert "the last one" not in asked
    assert (before, AdminChat.objects.get().chat_id) == (2, 102)


def test_whoever_unlinks_the_last_one_is_told_so(operator: Client) -> None:
    chat = link(101)

    assert "It is the last one" in operator.get(f"{CHATS}{chat.pk}/delete/").content.decode()


def test_nobody_is_made_an_admin_chat_by_hand(operator: Client) -> None:
    chat = link(101)

    answers = [operator.post(f"{CHATS}add/"), operator.post(f"{CHATS}{chat.pk}/change/", {"role": "operator"})]

    chat.refresh_from_db()
    assert [answer.status_code for answer in answers] == [403, 403]
    assert chat.role == Role.CURATOR
