"""Approving on the desk: by the form's button, and many at once."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from posts.models import Fundraiser
from tests.factories import make_fundraiser
from tests.posts.at_the_desk import ADD, JAR, LIST, errors_of, form, page_of

pytestmark = pytest.mark.django_db


def test_saved_and_approved_with_one_button(curator: Client) -> None:
    fundraiser = make_fundraiser(status="draft", link=JAR)
    button = "posts_fundraiser_save_and_approve"
    way = {"id": fundraiser.payment_methods.get().pk, "pasted": JAR, "position": 0}
    assert f'name="{button}"' in curator.get(page_of(fundraiser)).content.decode()

    page = curator.post(page_of(fundraiser), form(way, existing=1) | {button: ""}, follow=True)

    fundraiser.refresh_from_db()
    assert (fundraiser.title, fundraiser.status) == ("Пікап", "approved")
    assert "1 fundraiser approved" in page.content.decode()


def test_without_a_way_to_pay_it_is_saved_and_not_approved(curator: Client) -> None:
    page = curator.post(ADD, form() | {"posts_fundraiser_save_and_approve": ""}, follow=True)

    assert Fundraiser.objects.get().status == "draft"
    assert "no way to pay" in page.content.decode()
    assert "0 fundraisers approved" not in page.content.decode()


def test_who_may_only_add_approves_nothing(client: Client) -> None:
    writer = User.objects.create_user("writer", is_staff=True)
    writer.user_permissions.set(Permission.objects.filter(codename__in=["add_fundraiser", "add_paymentmethod"]))
    client.force_login(writer)

    client.post(ADD, form({"pasted": JAR}) | {"posts_fundraiser_save_and_approve": ""})

    assert Fundraiser.objects.get().status == "draft"


def test_an_approved_fundraiser_keeps_a_way_to_pay(curator: Client) -> None:
    fundraiser = make_fundraiser(link=JAR)
    way = {"id": fundraiser.payment_methods.get().pk, "pasted": JAR, "position": 0, "DELETE": "on"}

    answer = curator.post(page_of(fundraiser), form(way, existing=1))

    assert "keeps at least one way to pay" in errors_of(answer)
    assert fundraiser.payment_methods.count() == 1


@pytest.mark.parametrize(
    ("action", "before", "after", "said"),
    [
        ("approve", "draft", "approved", "2 fundraisers approved"),
        ("pause", "approved", "paused", "2 fundraisers paused"),
        ("close", "approved", "closed", "2 fundraisers closed"),
        ("withdraw", "draft", "withdrawn", "2 fundraisers withdrawn"),
    ],
)
def test_an_action_counts_what_it_did_and_names_what_refused(
    curator: Client, action: str, before: str, after: str, said: str
) -> None:
    able = [make_fundraiser(status=before), make_fundraiser(status=before)]
    unable = make_fundraiser(title="Забраний", status="closed" if action == "pause" else "withdrawn")
    chosen = able if action == "withdraw" else [*able, unable]

    page = curator.post(
        LIST, {"action": action, "_selected_action": [fundraiser.pk for fundraiser in chosen]}, follow=True
    ).content.decode()

    assert said in page
    assert set(Fundraiser.objects.exclude(pk=unable.pk).values_list("status", flat=True)) == {after}
    assert ("Забраний” cannot become" in page) == (action != "withdraw")
