"""What an answer changes: its row, its subscriber, the whole broadcast."""

from datetime import timedelta

import pytest

from delivery import brakes
from delivery.models import Delivery
from delivery.outcomes import GIVEN_BACK, Verdict, verdict_on
from delivery.recording import Answer
from posts import clock
from subscribers.models import Subscriber
from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    ChatRefused,
    ContentRefused,
    FileUnknown,
    Flooded,
    NotSent,
    OutcomeUnknown,
    RecipientGone,
    TokenRefused,
)
from tests.delivery.answering import SENT, answered, claimed, record
from tests.delivery.running import make_proven, turn
from tests.delivery.traces import errors, pause_alert
from tests.factories import LONG_AGO, make_delivery, make_subscriber

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("answer", "row", "left_reason", "state"),
    [
        (SENT, ("sent", "", "77"), "", "sending"),
        (GIVEN_BACK, ("pending", "", ""), "", "sending"),
        (RecipientGone("", left_reason="blocked"), ("skipped", "blocked", ""), "blocked", "sending"),
        (RecipientGone("", left_reason="deactivated"), ("skipped", "deactivated", ""), "deactivated", "sending"),
        (RecipientGone("", left_reason="unreachable"), ("skipped", "unreachable", ""), "unreachable", "sending"),
        (RecipientGone("Can't initiate", left_reason=""), ("skipped", "not started", ""), "", "sending"),
        (Flooded("429", wait=timedelta(seconds=30)), ("pending", "", ""), "", "on hold"),
        (NotSent("refused"), ("pending", "", ""), "", "on hold"),
        (ContentRefused("can't parse"), ("pending", "", ""), "", "paused"),
        (FileUnknown("wrong file identifier"), ("pending", "", ""), "", "paused"),
        (TokenRefused("401"), ("pending", "", ""), "", "paused"),
        (ChatRefused("no rights"), ("failed", "no rights", ""), "", "sending"),
        (OutcomeUnknown("timed out"), ("unknown", "timed out", ""), "", "sending"),
    ],
)
def test_an_answer_changes_its_row_its_subscriber_and_the_broadcast(
    answer: ChannelError | Verdict, row: tuple[str, str, str], left_reason: str, state: str
) -> None:
    broadcast = make_proven()

    delivery = answered(broadcast, answer)

    assert (delivery.status, delivery.reason, delivery.message_id) == row
    assert delivery.subscriber
    assert delivery.subscriber.left_reason == left_reason
    assert delivery.subscriber.is_active == (not left_reason)
    assert broadcast.status == ("paused" if state == "paused" else "sending")
    assert bool(broadcast.hold_until) == (state == "on hold")


def test_answers_that_say_nothing_more_are_recorded_while_the_next_are_claimed() -> None:
    broadcast = make_proven()
    first = claimed(broadcast)
    make_delivery(broadcast)

    assert len(record(broadcast, Answer(first, SENT, is_probe=False), want=5)) == 1


def test_nothing_is_claimed_with_an_answer_that_says_something_about_everybody() -> None:
    broadcast = make_proven()
    first, second = claimed(broadcast), claimed(broadcast)
    make_delivery(broadcast)

    flooded = verdict_on(Flooded("429", wait=timedelta(seconds=10)), file_id="")
    claims = record(broadcast, Answer(first, SENT, is_probe=False), Answer(second, flooded, is_probe=False), want=5)

    assert claims == []
    assert sorted(Delivery.objects.values_list("status", flat=True)) == ["pending", "pending", "sent"]


# Brakes.


@pytest.mark.parametrize(("seconds", "expected"), [(5, 60), (90, 90)])
def test_of_two_holds_the_longer_one_counts(seconds: int, expected: int) -> None:
    broadcast = make_proven(hold_until=clock.now() + timedelta(seconds=60))

    answered(broadcast, Flooded("429", wait=timedelta(seconds=seconds)))

    assert broadcast.hold_until
    assert (broadcast.hold_until - clock.now()).total_seconds() == pytest.approx(expected, abs=5)


def test_a_flood_is_kept_when_it_is_told_after_a_person_paused() -> None:
    broadcast = make_proven()
    claim = claimed(broadcast)
    brakes.pause(broadcast.pk, reason="paused by hand")

    record(broadcast, Answer(claim, verdict_on(Flooded("429", wait=timedelta(seconds=10)), file_id=""), is_probe=False))

    broadcast.refresh_from_db()
    assert broadcast.status == "paused"
    assert broadcast.hold_until


def test_a_pause_is_an_error_that_says_why_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_proven()
    refused = [Answer(claimed(broadcast), verdict_on(TokenRefused("401"), file_id=""), is_probe=False) for _ in "12"]

    record(broadcast, *refused)

    broadcast.refresh_from_db()
    assert broadcast.reason == "Telegram refused the bot's token"
    assert errors(caplog) == [pause_alert(broadcast, "Telegram refused the bot's token")]


def test_a_long_description_of_a_refusal_fits_into_the_reason() -> None:
    broadcast = make_proven()

    answered(broadcast, ContentRefused("ж" * 400))

    assert len(broadcast.reason) == 200


# Subscribers.


def test_a_403_does_not_deactivate_somebody_who_came_back_after_the_claim() -> None:
    broadcast = make_proven()
    claim = claimed(broadcast)
    Subscriber.objects.update(started_at=claim.claimed_at + timedelta(milliseconds=1))

    record(broadcast, Answer(claim, verdict_on(RecipientGone("", left_reason="blocked"), file_id=""), is_probe=False))

    assert Subscriber.objects.get().is_active
    assert Delivery.objects.get().status == "skipped"


def test_a_403_deactivates_somebody_who_started_before_the_claim() -> None:
    broadcast = make_proven()
    subscriber = make_subscriber(started_at=clock.now() - timedelta(minutes=1))

    delivery = answered(broadcast, RecipientGone("", left_reason="blocked"), subscriber=subscriber)

    assert delivery.subscriber
    assert (delivery.subscriber.left_reason, delivery.status) == ("blocked", "skipped")


def test_a_group_that_became_a_supergroup_is_written_to_under_its_new_id() -> None:
    broadcast = make_proven()
    group = make_subscriber(chat_id=-4500)

    answered(broadcast, ChatMoved("", new_id=-1_002_471_352_452), subscriber=group)

    Delivery.objects.update(not_before=LONG_AGO)  # its second is over
    (again,) = turn(broadcast)
    assert (again.subscriber_id, again.chat_id) == (group.pk, -1_002_471_352_452)


def test_a_group_whose_new_id_is_a_subscriber_already_only_leaves() -> None:
    broadcast = make_proven()
    supergroup = make_subscriber(chat_id=-100_123)
    make_delivery(broadcast, subscriber=supergroup, status="sent", message_id="1")
    group = make_subscriber(chat_id=-4500)

    answered(broadcast, ChatMoved("", new_id=-100_123), subscriber=group)

    group.refresh_from_db()
    assert (group.chat_id, group.left_reason) == (-4500, "unreachable")
    assert turn(broadcast) == []
