import pytest
from django.test import Client
from django.urls import reverse

from delivery import planning
from delivery.models import Broadcast, DailySchedule
from posts import clock
from subscribers.models import PollingConflict
from tests.delivery.at_the_desk import LIST, address, lock_sending, make_unknown, sit_down
from tests.factories import make_fundraiser, make_subscriber

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator(client: Client) -> Client:
    """Somebody who may look, and act on broadcasts, and nothing else."""
    return sit_down(client, "view_broadcast", "change_broadcast", "view_delivery", "view_change")


@pytest.fixture
def onlooker(client: Client) -> Client:
    return sit_down(client, "view_broadcast", "view_delivery")


@pytest.fixture
def broadcast() -> Broadcast:
    make_fundraiser(title="На дрони")
    make_subscriber()
    return planning.start_broadcast(by="Ольга", at=clock.now(), now=True)


def shown(content: bytes) -> str:
    return " ".join(content.decode().split())


# Today, on top of the list.


def test_today_is_told_on_top_of_the_list_with_the_acts_that_make_sense(curator: Client, broadcast: Broadcast) -> None:
    page = curator.get(LIST)

    assert "One message goes first" in page.content.decode()
    assert [act.value for act in page.context["acts"]] == ["pause", "cancel"]
    assert address("cancel") in page.content.decode()
    assert f'<form method="post" action="{address("pause")}">' in shown(page.content)


def test_whoever_may_only_look_sees_how_the_day_stands_and_no_buttons(onlooker: Client, broadcast: Broadcast) -> None:
    make_unknown(broadcast)

    pages = [onlooker.get(LIST), onlooker.get(f"{LIST}{broadcast.pk}/change/")]

    for page in pages:
        assert "One message goes first" in page.content.decode()
        assert "/day/" not in page.content.decode()


def test_before_the_hour_the_list_names_what_comes(curator: Client) -> None:
    make_fundraiser(title="На дрони")

    page = curator.get(LIST)

    assert "Next in turn: <a" in shown(page.content)
    assert [act.value for act in page.context["acts"]] == ["send-now", "skip"]


def test_a_lock_is_explained_in_full_with_its_history(curator: Client, broadcast: Broadcast) -> None:
    lock_sending()

    page = curator.get(LIST)

    assert "Sending is locked: another copy of this database has sent since. Nobody is written to." in shown(
        page.content
    )
    assert "<b>locked</b> <span>automatically</span>" in shown(page.content)
    assert address("unlock") in page.content.decode()


@pytest.mark.parametrize(("is_webhook", "says"), [(True, "A webhook is set"), (False, "Another installation gets")])
def test_another_installation_is_told(curator: Client, *, is_webhook: bool, says: str) -> None:
    at = clock.now()
    PollingConflict.objects.create(since=at - 2 * PollingConflict.OVERLAP, seen_at=at, is_webhook=is_webhook)

    assert says in curator.get(LIST).content.decode()


def test_the_list_leads_to_todays_unknown_rows(curator: Client, broadcast: Broadcast) -> None:
    make_unknown(broadcast)
    page = curator.get(LIST)

    rows = curator.get(page.context["unknown_rows"])

    assert page.context["unknown_rows"].replace("&", "&amp;") in page.content.decode()
    assert [delivery.status for delivery in rows.context["cl"].result_list] == ["unknown"]


def test_the_list_of_broadcasts_shows_what_became_of_the_recipients(curator: Client, broadcast: Broadcast) -> None:
    page = curator.get(LIST)

    assert "На дрони" in page.content.decode()
    assert "pending 1" in page.content.decode()


def test_a_reason_is_told_in_the_readers_language(admin_client: Client, broadcast: Broadcast) -> None:
    Broadcast.objects.update(status=Broadcast.Status.PAUSED, reason="Telegram refused the text: unclosed tag")

    page = admin_client.get(LIST)

    assert "Telegram не прийняв текст: unclosed tag" in page.content.decode()


# Records, and the schedule.


def test_records_cannot_be_written(admin_client: Client, broadcast: Broadcast) -> None:
    delivery = broadcast.deliveries.get()

    answers = [
        admin_client.post(reverse("admin:delivery_delivery_change", args=[delivery.pk]), {"status": "sent"}),
        admin_client.post(reverse("admin:delivery_delivery_delete", args=[delivery.pk]), {"post": "yes"}),
        admin_client.post(reverse("admin:delivery_broadcast_delete", args=[broadcast.pk]), {"post": "yes"}),
        admin_client.get(reverse("admin:delivery_broadcast_add")),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4


def test_the_schedule_is_one_page_that_refuses_a_start_after_the_quiet_hour(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:delivery_dailyschedule_changelist"), follow=True)
    form = {
        "is_enabled": "on",
        "send_at": "21:00",
        "latest_after": "02:00:00",
        "quiet_from": "22:00",
        "report_at": "20:00",
    }

    refused = admin_client.post(page.redirect_chain[-1][0], form)

    assert "quiet_from" in refused.context["adminform"].form.errors
    assert not DailySchedule.objects.get().is_enabled
    assert admin_client.post(page.redirect_chain[-1][0], form | {"send_at": "07:30"}).status_code == 302
    assert DailySchedule.objects.get().is_enabled


def test_deliveries_are_found_by_the_chat_id(admin_client: Client, broadcast: Broadcast) -> None:
    chat_id = broadcast.deliveries.get().subscriber.chat_id  # type: ignore[union-attr]
    url = reverse("admin:delivery_delivery_changelist")

    found = admin_client.get(url, {"q": str(chat_id)})
    missed = admin_client.get(url, {"q": "1"})

    assert found.context["cl"].result_count == 1
    assert missed.context["cl"].result_count == 0


# What an open page asks for again and again.


def test_a_day_that_moves_names_where_it_alone_is_told(onlooker: Client, broadcast: Broadcast) -> None:
    whole = onlooker.get(LIST).content.decode()
    alone = onlooker.get(f"{LIST}panel/{broadcast}/")

    assert f'data-moves="{LIST}panel/{broadcast}/"' in whole
    assert "One message goes first" in alone.content.decode()
    assert "<table" not in alone.content.decode()
    assert alone.context["acts"] == []


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01"])
def test_there_is_nothing_to_tell_of_what_is_no_day(onlooker: Client, day: str) -> None:
    assert onlooker.get(f"{LIST}panel/{day}/").status_code == 404


def test_a_day_is_told_to_those_alone_who_may_look(client: Client) -> None:
    nobody = sit_down(client, "view_change")

    assert nobody.get(f"{LIST}panel/2026-03-29/").status_code == 403
