"""What is unknown, in the admin: chosen rows, and all of a broadcast at once."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from delivery.models import Broadcast, Change, Delivery
from posts import clock
from tests.delivery.at_the_desk import make_unknown, sit_down
from tests.factories import make_broadcast, make_delivery

pytestmark = pytest.mark.django_db

ROWS = "/admin/delivery/delivery/"
WHY = "Пишуть, що отримали"


@pytest.fixture
def curator(client: Client) -> Client:
    """Somebody who may look, and act on broadcasts, and nothing else."""
    return sit_down(client, "view_broadcast", "change_broadcast", "view_delivery", "view_change")


def make_finished(*, days_ago: int = 0) -> Broadcast:
    at = clock.now()
    day = clock.local_date(at) - timedelta(days=days_ago)
    return make_broadcast(date=day, status="finished", finished_at=at, first_sent_at=at)


def choose(client: Client, action: str, *chosen: Delivery, **said: str) -> Any:
    form = {"action": action, "_selected_action": [delivery.pk for delivery in chosen]}
    return client.post(ROWS, form | said, follow=True)


def states() -> list[str]:
    return list(Delivery.objects.order_by("pk").values_list("status", flat=True))


@pytest.mark.parametrize(
    ("action", "says", "status"),
    [
        ("arrived", "If you know that it arrived", "sent"),
        ("send_again", "Sent again, it may arrive twice", "pending"),
    ],
)
def test_chosen_rows_are_asked_about_and_changed_with_a_reason_only(
    curator: Client, action: str, says: str, status: str
) -> None:
    broadcast = make_finished()
    chosen, _ = make_unknown(broadcast), make_unknown(broadcast)

    asked = choose(curator, action, chosen)
    asked_again = choose(curator, action, chosen, reason=" ")
    untouched = states()
    done = choose(curator, action, chosen, reason=WHY)

    assert says in asked.content.decode()
    assert "Perhaps it arrived; there is nothing to do." in asked.content.decode()
    assert f'name="_selected_action" value="{chosen.pk}"' in asked.content.decode()
    assert "reason" in asked_again.context["form"].errors
    assert untouched == ["unknown", "unknown"]
    assert [message.level_tag for message in done.context["messages"]] == ["success"]
    assert states() == [status, "unknown"]
    change = Change.objects.get()
    assert (change.by, change.reason) == ("olha", f"1: {WHY}")


def test_all_that_a_filter_finds_may_be_chosen_at_once(curator: Client) -> None:
    broadcast = make_finished()
    first, _ = make_unknown(broadcast), make_unknown(broadcast)

    asked = choose(curator, "arrived", first, select_across="1")
    choose(curator, "arrived", first, select_across="1", reason=WHY)

    assert 'name="select_across" value="1"' in asked.content.decode()
    assert states() == ["sent", "sent"]


def test_of_rows_of_several_days_each_day_says_what_became_of_its_own(curator: Client) -> None:
    today, yesterday = make_unknown(make_finished()), make_unknown(make_finished(days_ago=1))

    done = choose(curator, "send_again", today, yesterday, reason=WHY)

    assert {message.level_tag for message in done.context["messages"]} == {"success", "error"}
    assert states() == ["pending", "unknown"]


def test_rows_that_are_not_unknown_are_not_asked_about(curator: Client) -> None:
    sent = make_delivery(make_finished(), status="sent", message_id="7")

    page = choose(curator, "arrived", sent)

    assert "None of the chosen is unknown" in page.content.decode()


def test_the_broadcasts_page_offers_both_for_all_of_its_unknown_rows(curator: Client) -> None:
    broadcast = make_finished()
    make_unknown(broadcast)
    make_unknown(broadcast)
    again = f"/admin/delivery/broadcast/day/{broadcast.date}/send-again/"

    page = curator.get(f"/admin/delivery/broadcast/{broadcast.pk}/change/")
    asked = curator.get(again)
    done = curator.post(again, {"reason": WHY}, follow=True)

    assert again in page.content.decode()
    assert "Of 2 messages nobody knows whether they arrived." in asked.content.decode()
    assert "2 messages are sent again." in done.content.decode()
    assert states() == ["pending", "pending"]


def test_an_older_broadcasts_page_offers_only_that_it_arrived(curator: Client) -> None:
    broadcast = make_finished(days_ago=3)
    make_unknown(broadcast)
    page = curator.get(f"/admin/delivery/broadcast/{broadcast.pk}/change/")

    done = curator.post(f"/admin/delivery/broadcast/day/{broadcast.date}/arrived/", {"reason": WHY}, follow=True)

    assert [act.value for act in page.context["acts_on_unknown"]] == ["arrived"]
    assert done.redirect_chain == [(f"/admin/delivery/broadcast/{broadcast.pk}/change/", 302)]
    assert states() == ["sent"]


def test_the_history_stands_on_the_broadcasts_page_oldest_first_and_cannot_be_written(curator: Client) -> None:
    broadcast = make_finished()
    Change.objects.create(broadcast=broadcast, what="planned")
    last = Change.objects.create(broadcast=broadcast, what="paused", by="Ольга", reason="quiet hour")
    page = " ".join(curator.get(f"/admin/delivery/broadcast/{broadcast.pk}/change/").content.decode().split())

    answers = [
        curator.get("/admin/delivery/change/add/"),
        curator.post(f"/admin/delivery/change/{last.pk}/change/", {"by": "nobody"}),
        curator.post(f"/admin/delivery/change/{last.pk}/delete/", {"post": "yes"}),
    ]

    assert page.index("<b>planned</b> <span>automatically</span>") < page.index("<b>paused</b> <span>Ольга</span>")
    assert "<q>quiet hour</q>" in page
    assert [answer.status_code for answer in answers] == [403] * 3
    assert curator.get(f"/admin/delivery/broadcast/{broadcast.pk}/history/").url.endswith("#history")  # type: ignore[attr-defined]


def test_whoever_may_only_look_is_not_offered_the_actions(client: Client) -> None:
    sit_down(client, "view_delivery")
    delivery = make_unknown(make_finished())

    choose(client, "arrived", delivery, reason=WHY)

    assert states() == ["unknown"]
