import pytest
from django.test import Client
from django.urls import reverse

from delivery import planning
from delivery.models import Broadcast, DailySchedule
from posts import clock
from tests.factories import make_fundraiser, make_subscriber

pytestmark = pytest.mark.django_db


@pytest.fixture
def broadcast() -> Broadcast:
    make_fundraiser(title="На дрони")
    make_subscriber()
    return planning.start_broadcast(by="Ольга", at=clock.now(), now=True)


def test_the_list_of_broadcasts_shows_what_became_of_the_recipients(admin_client: Client, broadcast: Broadcast) -> None:
    page = admin_client.get(reverse("admin:delivery_broadcast_changelist"))

    assert "На дрони" in page.content.decode()
    assert f"{broadcast.deliveries.get().get_status_display()} 1" in page.content.decode()


@pytest.mark.parametrize(
    ("action", "status"), [("pause", Broadcast.Status.PAUSED), ("cancel", Broadcast.Status.CANCELLED)]
)
def test_actions_change_the_broadcast_and_say_so(
    admin_client: Client, broadcast: Broadcast, action: str, status: Broadcast.Status
) -> None:
    chosen = {"action": action, "_selected_action": [broadcast.pk]}

    page = admin_client.post(reverse("admin:delivery_broadcast_changelist"), chosen, follow=True)

    broadcast.refresh_from_db()
    assert broadcast.status == status
    assert [message.level_tag for message in page.context["messages"]] == ["success"]


def test_an_action_that_is_refused_says_why(admin_client: Client, broadcast: Broadcast) -> None:
    chosen = {"action": "resume", "_selected_action": [broadcast.pk]}

    page = admin_client.post(
        reverse("admin:delivery_broadcast_changelist"), chosen, follow=True, headers={"accept-language": "en"}
    )

    assert [message.level_tag for message in page.context["messages"]] == ["error"]
    assert "only a paused broadcast" in str(next(iter(page.context["messages"])))


def test_a_reason_is_told_in_the_readers_language(admin_client: Client, broadcast: Broadcast) -> None:
    Broadcast.objects.update(status=Broadcast.Status.PAUSED, reason="Telegram refused the text: unclosed tag")

    page = admin_client.get(reverse("admin:delivery_broadcast_changelist"))

    assert "Telegram не прийняв текст: unclosed tag" in page.content.decode()


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
