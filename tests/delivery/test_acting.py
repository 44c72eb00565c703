"""A person's acts on a day, through the pages that ask for them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from delivery import planning, reasons
from delivery.models import Broadcast, Change, SendingLock
from posts import clock
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


def act(client: Client, act: str, **said: object) -> list[str]:
    """Do it, and return what the page says then."""
    page = client.post(address(act), said, follow=True)
    return [f"{message.level_tag}: {message}" for message in page.context["messages"]]


def test_a_broadcast_is_paused_mended_resumed_and_cancelled_from_the_desk(
    curator: Client, broadcast: Broadcast
) -> None:
    said = [act(curator, name) for name in ("pause", "refreeze", "resume", "cancel")]

    broadcast.refresh_from_db()
    assert [message[0].split(":")[0] for message in said] == ["success"] * 4
    assert (broadcast.status, broadcast.revision) == ("cancelled", 2)
    history = broadcast.changes.exclude(what="planned").values_list("what", "by")
    assert list(history) == [(what, "olha") for what in ("paused", "refrozen", "resumed", "cancelled")]


def test_send_now_says_how_many_get_it_and_sends_what_was_read(curator: Client) -> None:
    make_fundraiser(title="На дрони", priority=9)
    other = make_fundraiser(title="На авто")
    make_subscriber()
    make_subscriber()

    asked = curator.get(address("send-now"))
    said = act(curator, "send-now", fundraiser=other.pk)

    assert "2 people get it, at once. It cannot be taken back." in asked.content.decode()
    assert asked.context["form"].initial["fundraiser"].title == "На дрони"
    assert said == ["success: It goes out: «На авто»."]
    assert Broadcast.objects.get().deliveries.count() == 2
    assert act(curator, "send-now", fundraiser=other.pk)[0].startswith("error: the broadcast of")
    assert Broadcast.objects.get().changes.get().by == "olha"


def test_send_now_to_nobody_says_so(curator: Client) -> None:
    make_fundraiser()

    asked = curator.get(address("send-now"))

    assert "Nobody is subscribed yet: nobody would get it." in asked.content.decode()


def test_what_is_not_approved_cannot_be_chosen(curator: Client) -> None:
    make_fundraiser()
    draft = make_fundraiser(status="draft")

    asked_again = curator.post(address("send-now"), {"fundraiser": draft.pk})

    assert "fundraiser" in asked_again.context["form"].errors
    assert not Broadcast.objects.exists()


def test_today_is_skipped_with_a_reason_only(curator: Client) -> None:
    asked_again = curator.post(address("skip"), {"reason": "  "})

    assert "reason" in asked_again.context["form"].errors
    assert act(curator, "skip", reason="День жалоби") == ["success: Nothing goes out on this day."]
    row = Broadcast.objects.get()
    assert (row.status, row.reason, row.changes.get().by) == ("skipped", "День жалоби", "olha")


def test_a_skip_is_taken_back(curator: Client) -> None:
    act(curator, "skip", reason="День жалоби")

    said = act(curator, "unskip")

    assert said == ["success: The day is given back. If its hour is over, «Send now» sends."]
    assert not Broadcast.objects.exists()
    assert [(change.what, change.by) for change in Change.objects.all()] == [("skipped", "olha"), ("unskipped", "olha")]


def test_unlocking_asks_for_a_persons_word(curator: Client) -> None:
    lock_sending()

    asked = curator.get(address("unlock"))
    is_still_locked = SendingLock.load().is_locked
    said = act(curator, "unlock")

    assert "By unlocking you confirm" in asked.content.decode()
    assert is_still_locked
    assert said == ["success: Unlocked. Nothing was sent by this: what ran is paused."]
    assert not SendingLock.load().is_locked
    assert Change.objects.last().by == "olha"  # type: ignore[union-attr]


def test_resuming_against_the_wrong_bot_says_what_it_means(curator: Client, broadcast: Broadcast) -> None:
    Broadcast.objects.update(status="paused", reason=reasons.WRONG_BOT)

    asked = curator.get(address("resume"))

    assert "1 person waits for it." in asked.content.decode()
    assert "whoever is gone is then taken off the list" in asked.content.decode()


def test_sending_what_another_copy_began_says_what_it_means(curator: Client) -> None:
    make_fundraiser()
    today = clock.local_date(clock.now())
    Broadcast.objects.create(date=today, status="expired", reason=reasons.SENT_ELSEWHERE)

    asked = curator.get(address("send-now"))

    assert "«Send now» would write to everybody a second time" in asked.content.decode()


@pytest.mark.parametrize("name", ["send-now", "resume", "unlock", "arrived", "send-again"])
def test_an_act_that_is_not_possible_now_asks_nothing(curator: Client, broadcast: Broadcast, name: str) -> None:
    page = curator.get(address(name), follow=True)

    assert page.redirect_chain == [(LIST, 302)]
    assert "This is not possible now" in page.content.decode()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("resume", "only a paused broadcast can be resumed; this one is planned"),
        ("refreeze", "only a paused broadcast takes another text; pause it first"),
        ("unlock", "sending is not locked"),
    ],
)
def test_a_refusal_is_told_in_words(curator: Client, broadcast: Broadcast, name: str, says: str) -> None:
    assert act(curator, name) == [f"error: {says}"]


def test_an_act_without_its_broadcast_is_refused(curator: Client) -> None:
    assert act(curator, "pause") == [f"error: no broadcast on {clock.local_date(clock.now())}"]


def test_a_page_that_was_left_open_since_yesterday_sends_nothing(curator: Client) -> None:
    fundraiser = make_fundraiser()

    page = curator.post(f"{LIST}day/2026-03-29/send-now/", {"fundraiser": fundraiser.pk}, follow=True)

    assert "the day of this broadcast, 2026-03-29, is over" in page.content.decode()
    assert not Broadcast.objects.exists()


@pytest.mark.parametrize("wrong", ["day/yesterday/pause/", "day/2026-03-29/delete/"])
def test_no_other_act_and_no_other_day_has_a_page(curator: Client, wrong: str) -> None:
    assert curator.post(LIST + wrong).status_code == 404


@pytest.mark.parametrize(
    "name", ["pause", "resume", "cancel", "refreeze", "send-now", "skip", "unskip", "unlock", "arrived", "send-again"]
)
def test_every_act_needs_the_permission_and_its_own_form(onlooker: Client, broadcast: Broadcast, name: str) -> None:
    lock_sending()
    make_unknown(broadcast)
    stranger = Client(enforce_csrf_checks=True)
    stranger.force_login(User.objects.create_superuser("chief"))

    answers = [onlooker.get(address(name)), onlooker.post(address(name)), stranger.post(address(name))]

    assert [answer.status_code for answer in answers] == [403] * 3
    assert Client().post(address(name)).status_code == 302  # to the login
    assert Change.objects.exclude(what__in=["planned", "locked"]).count() == 0


@pytest.mark.parametrize(("name", "page"), [("pause", LIST), ("cancel", "")])
def test_the_form_that_a_page_holds_is_taken(broadcast: Broadcast, name: str, page: str) -> None:
    chief = Client(enforce_csrf_checks=True)
    chief.force_login(User.objects.create_superuser("chief"))
    form = chief.get(page or address(name)).content.decode().split("<section", 1)[1].split("</section>", 1)[0]
    token = form.split('name="csrfmiddlewaretoken" value="', 1)[1].split('"', 1)[0]

    answer = chief.post(address(name), {"csrfmiddlewaretoken": token})

    assert answer.status_code == 302
    assert broadcast.changes.filter(by="chief").count() == 1
