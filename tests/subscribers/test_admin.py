"""The operator's list of subscribers."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import make_subscriber

pytestmark = pytest.mark.django_db

LIST = "/admin/subscribers/subscriber/"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
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
