import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from posts import clock
from posts.models import Fundraiser, PaymentMethod
from tests.factories import make_fundraiser, make_picture

pytestmark = pytest.mark.django_db

JAR = "https://send.monobank.ua/jar/SANDBOX001"


def shown_today(**facts: Any) -> Fundraiser:
    fundraiser = make_fundraiser(**facts)
    Fundraiser.objects.mark_shown(fundraiser.pk, on=clock.local_date(clock.now()))
    return fundraiser


def test_the_page_shows_todays_fundraiser_and_how_to_pay(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fundraiser = shown_today(title="Пікап <3", text="5 < 10 <b>так</b>", goal=1000, picture=make_picture(), link=JAR)
    PaymentMethod.objects.create(fundraiser=fundraiser, position=1, rail="card", account="4111111111111111")

    with django_assert_num_queries(3):  # the clock, the fundraiser, its ways to pay
        page = client.get("/").content.decode()

    assert "<h1>Пікап &lt;3</h1>" in page
    assert "5 &lt; 10 <b>так</b>" in page
    assert "1\u00a0000\u00a0₴" in page
    assert f'href="{JAR}?a=50"' in page
    assert "4111111111111111" in page


def test_the_page_asks_no_other_host_for_anything(client: Client) -> None:
    shown_today(picture=make_picture(), link=JAR)

    page = client.get("/").content.decode()

    assert not re.findall(r'(?:src|action)="(?:https?:)?//|url\(|@import|<link[^>]+href="h', page)


def test_before_the_first_showing_the_page_invites(client: Client, settings: Settings) -> None:
    settings.SUPPORT_CONTACT = "@support"
    make_fundraiser()

    page = client.get("/").content.decode()

    assert "/start" in page
    assert "@support" in page
    assert "<article>" not in page


@pytest.mark.parametrize("verb", [Fundraiser.pause, Fundraiser.close, Fundraiser.withdraw])
def test_what_was_stopped_leaves_the_page(client: Client, verb: Callable[[Fundraiser], None]) -> None:
    fundraiser = shown_today()

    verb(fundraiser)

    assert "<article>" not in client.get("/").content.decode()


def test_a_picture_is_served_to_be_kept_for_ever(client: Client) -> None:
    picture = make_picture()

    answer = client.get(picture.url)

    assert answer.content == picture.content
    assert answer["Content-Type"] == "image/jpeg"
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("digest", ["0" * 64, "photo.jpg", "%00"])
def test_an_unknown_picture_is_not_found(client: Client, digest: str) -> None:
    assert client.get(f"/pictures/{digest}").status_code == 404
