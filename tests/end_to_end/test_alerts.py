"""A morning on which much goes wrong: people hear of each thing once, by the ledger of their own phone."""

from collections.abc import Iterator

import pytest

from delivery.models import Delivery
from donate1024.alerts.models import Alert
from donate1024.celery import app
from tests.end_to_end.installation import Installation, wait_until
from tests.end_to_end.judging import judge
from tests.end_to_end.outcomes import NO_RIGHT
from tests.factories import make_fundraiser
from tests.mail_server import MailServer

pytestmark = pytest.mark.end_to_end

ADMIN = 900


@pytest.fixture
def mail_server(installation: Installation) -> Iterator[MailServer]:
    with MailServer() as server:
        installation.env |= {"ALERT_EMAILS": "curator@example.org", "EMAIL_URL": server.url}
        installation.env["TELEGRAM_ADMIN_CHATS"] = str(ADMIN)
        installation.sandbox.post("/control/chats", [{"chat_id": ADMIN, "first_name": "Ірина"}])
        yield server


def told(installation: Installation) -> list[str]:
    return [message["text"] for message in installation.sandbox.sent_to(ADMIN)]


def resume(installation: Installation) -> None:
    installation.sandbox.delete("/control/faults")
    done = installation.manage("broadcast", "resume")
    assert done.returncode == 0, done.stderr


def test_many_refused_chats_are_one_alert_and_a_dead_token_is_one_mail_and_each_end_is_told(
    installation: Installation, mail_server: MailServer
) -> None:
    make_fundraiser()
    people = installation.add_people(60)
    installation.env["TELEGRAM_MESSAGES_PER_SECOND"] = "15"
    for chat in people[10:50]:
        installation.fault(NO_RIGHT, chat_id=chat, times=0)
    installation.worker(concurrency=2)

    installation.manage("broadcast", "start", "--now")
    installation.wait_for_status("paused")
    wait_until(lambda: len(told(installation)) == 1, what="the alert", log=installation)
    resume(installation)
    sent = Delivery.objects.filter(status="sent").count()
    installation.wait_for_count(Delivery.Status.SENT, least=sent + 5)
    installation.fault({"status": 401}, method="sendMessage", times=0)
    installation.wait_for_status("paused")
    wait_until(lambda: len(mail_server.mails) == 1, what="the mail", log=installation)
    resume(installation)
    installation.wait_for_status("finished")

    wait_until(lambda: len(told(installation)) == 3, what="both ends", log=installation)
    refused, its_end, end_of_the_other = told(installation)
    assert refused.startswith("🔴")
    assert its_end.startswith("✅")
    assert end_of_the_other.startswith("✅")
    (mail,) = mail_server.mails
    assert "🔴" in mail["Subject"]
    alerts = Alert.objects.order_by("pk")
    assert [(alert.route, alert.count, alert.tell_at) for alert in alerts] == [("telegram", 1, None)] * 2
    assert judge(installation)["counts"]["failed"] >= 3


def test_a_worker_that_is_stopped_while_it_tells_tells_it_to_the_end(
    installation: Installation, mail_server: MailServer
) -> None:
    installation.fault({"delay": 4}, method="sendMessage", chat_id=ADMIN)
    worker = installation.worker(concurrency=1).wait_for(" ready.")

    app.send_task("delivery.sweep", kwargs={"nonsense": 1})
    worker.wait_for("TypeError")
    worker.stop()

    (text,) = told(installation)
    assert "TypeError" in text
    assert Alert.objects.get().route == "telegram"  # it heard the answer too
    assert mail_server.mails == []
