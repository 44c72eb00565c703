import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from posts.models import Fundraiser, PaymentMethod, Picture
from tests.factories import image_bytes, make_fundraiser, make_picture
from tests.posts.at_the_desk import ADD, JAR, LIST, errors_of, form, page_of

pytestmark = pytest.mark.django_db


def test_the_list_opens_with_a_fixed_number_of_queries(
    curator: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        make_fundraiser(picture=make_picture(color=f"#0000{number}0"), goal=1000)
    curator.get(LIST)

    with django_assert_num_queries(4):  # session, user, count, the rows
        page = curator.get(LIST).content.decode()

    assert page.count("/pictures/") == 5


def test_the_form_opens_with_a_fixed_number_of_queries(
    curator: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fundraiser = make_fundraiser(picture=make_picture())
    for number in range(4):
        PaymentMethod.objects.create(fundraiser=fundraiser, rail="paypal", link=f"https://paypal.me/{number}")
    curator.get(page_of(fundraiser))

    with django_assert_num_queries(4):  # session, user, the fundraiser, its ways to pay
        page = curator.get(page_of(fundraiser))

    assert page.status_code == 200


def test_pictures_are_looked_at_and_not_changed(
    curator: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    picture = make_picture()

    with django_assert_num_queries(4) as queries:  # session, user, count, the rows
        listed = curator.get("/admin/posts/picture/")
    opened = curator.get(f"/admin/posts/picture/{picture.pk}/change/")

    assert picture.url in listed.content.decode()
    assert not any('"posts_picture"."content"' in query["sql"] for query in queries.captured_queries)
    assert picture.url in opened.content.decode()
    assert curator.post(f"/admin/posts/picture/{picture.pk}/change/", {"width": 1}).status_code == 403
    assert curator.get("/admin/posts/picture/add/").status_code == 403


def test_pasted_ways_to_pay_are_normalised_and_keep_their_order(curator: Client) -> None:
    curator.post(ADD, form({"pasted": "send.monobank.ua/jar/SANDBOX001?a=5 "}, {"pasted": "4111 1111 1111 1111"}))

    methods = PaymentMethod.objects.order_by("position")
    assert [(method.rail, method.link, method.account) for method in methods] == [
        ("monobank", JAR, ""),
        ("card", "", "4111111111111111"),
    ]


def test_rows_are_dragged_added_and_may_change_places(curator: Client) -> None:
    fundraiser = make_fundraiser(link=JAR)
    first = fundraiser.payment_methods.get()
    second = PaymentMethod.objects.create(
        fundraiser=fundraiser, position=1, rail="paypal", link="https://paypal.me/volunteer"
    )

    curator.post(
        page_of(fundraiser),
        form(
            {"id": first.pk, "pasted": second.link, "position": 0},
            {"id": second.pk, "pasted": JAR, "position": 1},
            {"pasted": "https://privat24.ua/send/a1"},
            existing=2,
        ),
    )

    links = [method.link for method in fundraiser.payment_methods.all()]
    assert links == ["https://paypal.me/volunteer", JAR, "https://privat24.ua/send/a1"]


@pytest.mark.parametrize(
    ("ways", "facts", "reason"),
    [
        ([{"pasted": "https://evil-privat24.ua/send/a"}], {}, "evil-privat24.ua cannot be used"),
        ([{"pasted": "4111 1111 1111 1112"}], {}, "digit of the card"),
        ([{"pasted": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}], {}, "Name the coin"),
        ([{"pasted": JAR}, {"pasted": "send.monobank.ua/jar/SANDBOX001"}], {}, "is there already"),
        ([{"pasted": JAR}], {"text": "<b>Для медиків"}, "not closed"),
        ([{"pasted": JAR}], {"text": "ї" * 4096}, "4,103 of 4,096"),
        ([{"pasted": JAR}], {"goal": 0}, "greater than or equal to 1"),
        ([{"pasted": JAR}], {"starts_on": "2026-10-02", "ends_on": "2026-10-01"}, "before the first"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_the_reason(
    curator: Client, ways: list[dict[str, Any]], facts: dict[str, Any], reason: str
) -> None:
    answer = curator.post(ADD, form(*ways, **facts))

    assert reason in errors_of(answer)
    assert not Fundraiser.objects.exists()


@pytest.mark.parametrize("name", ["збір на авто №1 (копія).JPG", "ї" * 246 + ".png", "a/../b.jpg", "🚑.png", "photo"])
def test_a_photo_of_any_name_becomes_the_picture(curator: Client, name: str) -> None:
    photo = SimpleUploadedFile(name, image_bytes())

    curator.post(ADD, form({"pasted": JAR}, photo=photo, picture_alt="Синій прямокутник"))

    assert Fundraiser.objects.get().picture == Picture.objects.get()


def test_a_file_that_is_no_photo_is_refused(curator: Client) -> None:
    answer = curator.post(ADD, form({"pasted": JAR}, photo=SimpleUploadedFile("photo.jpg", b"%PDF-1.7")))

    assert "no picture" in errors_of(answer)
    assert not Picture.objects.exists()


def test_a_new_photo_counts_for_the_length_of_the_text(curator: Client) -> None:
    answer = curator.post(ADD, form({"pasted": JAR}, text="ї" * 1024, photo=SimpleUploadedFile("a.png", image_bytes())))

    assert "1,031 of 1,024" in errors_of(answer)


def test_a_photo_stays_until_it_is_taken_away(curator: Client) -> None:
    fundraiser = make_fundraiser(picture=make_picture(), link=JAR)
    way = {"id": fundraiser.payment_methods.get().pk, "pasted": JAR, "position": 0}

    curator.post(page_of(fundraiser), form(way, existing=1))
    fundraiser.refresh_from_db()
    assert fundraiser.picture is not None

    curator.post(page_of(fundraiser), form(way, {"photo-clear": "on"}, existing=1) | {"photo-clear": "on"})
    fundraiser.refresh_from_db()
    assert fundraiser.picture is None


def test_saving_writes_only_what_was_edited(curator: Client) -> None:
    fundraiser = make_fundraiser(title="Пікап", text="Для медиків", link=JAR)
    way = {"id": fundraiser.payment_methods.get().pk, "pasted": JAR, "position": 0}

    with CaptureQueriesContext(connection) as queries:
        curator.post(page_of(fundraiser), form(way, existing=1, title="Пікап для медиків"))

    updates = [query["sql"] for query in queries if query["sql"].startswith('UPDATE "posts_fundraiser"')]
    assert [re.findall(r'"(\w+)" = ', update.partition(" WHERE ")[0]) for update in updates] == [["title"]]


def test_the_preview_shows_what_stands_in_the_form(curator: Client) -> None:
    typed = form({"pasted": "send.monobank.ua/jar/SANDBOX001"}, text="5 < 10 <b>так</b>", picture="blob:x")

    page = curator.post(f"{LIST}preview/", typed).content.decode()

    assert "<b>Пікап</b>\n\n5 &lt; 10 <b>так</b>" in page
    assert f"{JAR}?a=50" in page
    assert "17 of 1,024 characters" in page
    assert 'src="blob:x"' in page
    assert not Fundraiser.objects.exists()


def test_the_preview_names_every_fault(curator: Client) -> None:
    typed = form({"pasted": "monobank://jar"}, {"pasted": JAR, "DELETE": "on"}, text="ї" * 4096)

    page = curator.post(f"{LIST}preview/", typed).content.decode()

    assert "monobank://" in page
    assert "4,103 of 4,096" in page
    assert "no way to pay yet" in page


@pytest.mark.parametrize("goal", ["багато", "9" * 5000])
def test_the_preview_leaves_out_a_goal_that_is_no_number(curator: Client, goal: str) -> None:
    page = curator.post(f"{LIST}preview/", form({"pasted": JAR, "position": goal}, goal=goal))

    assert page.status_code == 200
    assert "🎯" not in page.content.decode()


def test_the_preview_is_for_curators(client: Client) -> None:
    assert client.post(f"{LIST}preview/", form()).status_code == 302
