"""The alerts on the desk, and the trial."""

from datetime import UTC, datetime

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from donate1024.alerts.models import Alert
from tests.donate1024.alerts.conftest import Phone
from tests.donate1024.alerts.test_models import make_alert
from tests.mail_server import MailServer
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db

LIST, TRIAL = reverse("admin:alerts_alert_changelist"), reverse("admin:alerts_alert_trial")
LONG_AGO, LATELY = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def try_it(client: Client) -> list[tuple[str, str]]:
    answer = client.post(TRIAL)
    return [(message.level_tag, str(message)) for message in get_messages(answer.wsgi_request)]


def test_the_list_has_the_newest_first_and_marks_what_goes_on(admin_client: Client) -> None:
    make_alert(key="a", text="The roof leaks. People get wet.", first_at=LONG_AGO, last_at=LONG_AGO)
    make_alert(
        key="b",
        text="<b>It rains</b>.",
        first_at=LONG_AGO,
        last_at=LATELY,
        recovered_at=LATELY,
        told_at=LATELY,
        route="email",
    )

    page = admin_client.get(LIST).content.decode()

    assert page.index("&lt;b&gt;It rains&lt;/b&gt;.") < page.index("The roof leaks.")
    assert page.index("Over") < page.index("Going on", page.index("It rains"))
    assert "nobody yet" in page
    assert "People get wet" not in page


@pytest.mark.parametrize(("state", "count"), [("open", 1), ("over", 0)])
def test_the_list_is_filtered_by_what_goes_on(admin_client: Client, state: str, count: int) -> None:
    make_alert()

    answer = admin_client.get(LIST, {"state": state})

    assert answer.context["cl"].result_count == count


def test_nobody_writes_an_alert_by_hand(admin_client: Client) -> None:
    alert = make_alert()
    address = reverse("admin:alerts_alert_change", args=[alert.pk])

    assert admin_client.get(address).status_code == 200
    assert admin_client.post(address, {"text": "All is well"}).status_code == 403
    assert admin_client.get(reverse("admin:alerts_alert_add")).status_code == 403


def test_a_trial_comes_to_the_chat(admin_client: Client, phone: Phone) -> None:
    said = try_it(admin_client)

    assert said == [("success", "The trial alert is in Telegram, in the admin chats.")]
    assert phone.texts()[0].startswith("🔔 This is a trial.")
    assert not Alert.objects.exists()


def test_a_trial_by_email_says_what_to_mend_in_telegram(
    admin_client: Client, telegram: SandboxProcess, mail_server: MailServer
) -> None:
    telegram.post("/control/faults", [{"method": "sendMessage", "fault": {"status": 401}}])

    ((level, said),) = try_it(admin_client)

    assert level == "error"
    assert said == (
        "Telegram refuses the bot's token: check TELEGRAM_BOT_TOKEN. By e-mail it went out, to ALERT_EMAILS."
    )
    assert len(mail_server.mails) == 1


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"status": 401}, "TELEGRAM_BOT_TOKEN"),
        ({"status": 403, "description": "Forbidden: bot was blocked by the user"}, "press Start"),
        ({"status": 429, "retry_after": 7}, "wait for 7 s"),
        ("drop", "check the network"),
    ],
)
def test_a_trial_that_arrives_nowhere_says_what_to_mend(
    admin_client: Client, telegram: SandboxProcess, fault: object, says: str
) -> None:
    telegram.post("/control/faults", [{"method": "sendMessage", "fault": fault, "times": 0}])

    ((level, said),) = try_it(admin_client)

    assert level == "error"
    assert says in said
    assert "There is no second route" in said


def test_without_a_chat_a_refused_token_is_what_is_to_be_mended(
    admin_client: Client, telegram: SandboxProcess, settings: LazySettings
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = []
    telegram.post("/control/faults", [{"method": "getMe", "fault": {"status": 401}, "times": 0}])

    ((_, said),) = try_it(admin_client)

    assert said.startswith("Telegram refuses the bot's token: check TELEGRAM_BOT_TOKEN.")


def test_a_trial_without_a_mail_server_that_takes_it_says_so(
    admin_client: Client, telegram: SandboxProcess, settings: LazySettings, mail_server: MailServer
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = []
    settings.EMAIL_PORT = 9

    ((_, said),) = try_it(admin_client)

    assert "No admin chat takes it" in said
    assert "ConnectionRefusedError" in said


def test_a_trial_is_a_post_of_somebody_who_may(client: Client, admin_client: Client, phone: Phone) -> None:
    reader = User.objects.create_user("reader", password="x", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_alert"))
    client.force_login(reader)

    assert "trial" not in client.get(LIST).content.decode()
    assert client.post(TRIAL).status_code == 403
    assert admin_client.get(TRIAL).status_code == 405
    assert phone.texts() == []
