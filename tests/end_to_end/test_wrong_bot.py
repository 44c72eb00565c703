"""A new token on an old list unsubscribes nobody, and demo and real never meet."""

import pytest

from delivery import reasons
from delivery.models import Delivery, SenderSlot, SendingLock
from posts import clock
from subscribers.models import Subscriber
from tests.end_to_end.installation import Installation, Process
from tests.factories import make_fundraiser
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.end_to_end

RIGHT = "111222:right-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
WRONG = "333444:wrong-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture
def real(installation: Installation) -> Installation:
    """An installation with a token of its own; Telegram, which is still the sandbox, knows another bot too."""
    to_the_real_clock(installation)
    installation.sandbox.kill()
    installation.sandbox = SandboxProcess(installation.folder / "telegram", tokens=(RIGHT, WRONG))
    installation.env |= {"DONATE1024_SANDBOX": "0", "TELEGRAM_API_URL": installation.sandbox.url}
    installation.env["TELEGRAM_BOT_TOKEN"] = RIGHT
    return installation


def to_the_real_clock(installation: Installation) -> None:
    """Outside the sandbox there is no other."""
    installation.pass_time(-clock.offset().total_seconds())


def everybodys_chats(real: Installation, people: list[int], *, state: str) -> None:
    real.sandbox.post("/control/chats", [{"chat_id": chat, "state": state} for chat in people])


def calls_of(real: Installation, token: str) -> int:
    bot_id = int(token.partition(":")[0])
    calls = real.sandbox.get("/control/calls")
    return sum(call["method"] == "sendMessage" and call.get("bot_id") == bot_id for call in calls)


def change_token(real: Installation, worker: Process, token: str) -> Process:
    worker.stop()
    SenderSlot.objects.all().delete()
    real.env["TELEGRAM_BOT_TOKEN"] = token
    return real.worker()


def test_a_new_token_on_an_old_list_unsubscribes_nobody_even_unlocked_and_the_right_one_serves_everybody_once(
    real: Installation,
) -> None:
    make_fundraiser()
    people = real.add_people(60)
    real.env["TELEGRAM_MESSAGES_PER_SECOND"] = "10"
    worker = real.worker()
    real.manage("broadcast", "start", "--now")
    real.wait_for_count(Delivery.Status.SENT, least=10)
    everybodys_chats(real, people, state="absent")

    worker = change_token(real, worker, WRONG)
    real.beat()
    real.wait_until(lambda: SendingLock.load().is_locked, what="the lock")
    after_lock = real.books()["paused_because"], calls_of(real, WRONG)
    real.manage("broadcast", "unlock")
    real.manage("broadcast", "resume")
    real.wait_until(lambda: real.books()["paused_because"] == reasons.WRONG_BOT, what="the pause")
    real.wait_until(lambda: real.books()["counts"]["sending"] == 0, what="the calls in flight to end")
    wrong_calls, active = calls_of(real, WRONG), Subscriber.objects.active().count()
    pending = real.books()["counts"]["pending"]

    everybodys_chats(real, people, state="open")
    change_token(real, worker, RIGHT)
    real.manage("broadcast", "resume")
    real.wait_until(lambda: SendingLock.load().is_locked, what="the lock: the unlock was for the other bot")
    real.manage("broadcast", "unlock")
    real.manage("broadcast", "resume")
    real.wait_for_status("finished")

    assert after_lock == (reasons.LOCKED, 0)
    assert 20 <= wrong_calls <= 30
    assert active == 60
    assert pending + real.books()["counts"]["sent"] >= 60
    assert real.served() == dict.fromkeys(people, 1)


def test_a_sandboxs_database_opened_with_a_real_token_sends_nothing_and_cannot_be_unlocked(
    installation: Installation,
) -> None:
    to_the_real_clock(installation)
    make_fundraiser()
    installation.add_people(3)
    installation.manage("broadcast", "start", "--now")
    installation.env["TELEGRAM_BOT_TOKEN"] = RIGHT

    both = installation.manage("broadcast", "status")
    installation.env["DONATE1024_SANDBOX"] = "0"
    worker, _ = installation.worker(), installation.beat()
    installation.wait_until(lambda: SendingLock.load().is_locked, what="the lock")
    unlocked = installation.manage("broadcast", "unlock")

    assert "the sandbox takes no token" in both.stderr
    assert "sandbox and real never meet" in unlocked.stderr
    assert installation.served() == {}
    assert installation.books()["counts"]["pending"] == 3
    assert worker.is_alive
