"""What an answer changes: its row, its subscriber, the whole broadcast."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from delivery import brakes
from delivery.ledger import Claim
from delivery.models import Broadcast, Delivery, UploadedPicture
from delivery.outcomes import GIVEN_BACK, Verdict, verdict_on
from delivery.recording import Answer, record_and_claim
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
from tests.delivery.running import make_proven, turn
from tests.delivery.traces import errors, pause_alert
from tests.factories import LONG_AGO, make_broadcast, make_delivery, make_picture, make_subscriber

pytestmark = pytest.mark.django_db

Status = Delivery.Status
SENT = Verdict(Status.SENT, message_id="77")
BOT = 1024


def claimed(broadcast: Broadcast, **facts: Any) -> Claim:
    """A delivery on its way."""
    make_delivery(broadcast, **facts)
    (claim,) = turn(broadcast, is_probe=True)
    return claim


def record(broadcast: Broadcast, *answers: Answer, want: int = 0) -> list[Claim]:
    return record_and_claim(
        broadcast_id=broadcast.pk,
        revision=broadcast.revision,
        bot_id=BOT,
        answers=answers,
        want=want,
        token=uuid4(),
        is_probe=False,
    )


def answered(broadcast: Broadcast, answer: ChannelError | Verdict, *, is_probe: bool = False, **facts: Any) -> Delivery:
    """A delivery, after that answer was recorded."""
    claim = claimed(broadcast, **facts)
    verdict = answer if isinstance(answer, Verdict) else verdict_on(answer, file_id="")
    record(broadcast, Answer(claim, verdict, is_probe))
    broadcast.refresh_from_db()
    return Delivery.objects.select_related("subscriber").get(pk=claim.delivery_id)


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


# The picture.


def uploaded(file_id: str) -> Verdict:
    return Verdict(Status.SENT, message_id="77", file_id=file_id)


def test_the_handle_of_an_upload_is_stored_for_this_bot() -> None:
    broadcast = make_proven(picture=make_picture())

    answered(broadcast, uploaded("handle"))

    stored = UploadedPicture.objects.get()
    assert (stored.bot_id, stored.picture, stored.file_id) == (BOT, broadcast.picture, "handle")


def test_of_two_uploads_the_first_handle_stays() -> None:
    broadcast = make_proven(picture=make_picture())

    answered(broadcast, uploaded("first"))
    answered(broadcast, uploaded("second"))

    assert UploadedPicture.objects.get().file_id == "first"


@pytest.mark.parametrize(("stored", "is_left"), [("stale", False), ("newer", True)])
def test_a_handle_that_was_refused_is_deleted_unless_it_was_replaced(stored: str, *, is_left: bool) -> None:
    picture = make_picture()
    broadcast = make_proven(picture=picture)
    UploadedPicture.objects.create(bot_id=BOT, picture=picture, file_id=stored, uploaded_at=LONG_AGO)
    other_bots = UploadedPicture.objects.create(bot_id=2048, picture=picture, file_id="stale")

    answered(broadcast, verdict_on(FileUnknown(""), file_id="stale"))

    assert UploadedPicture.objects.filter(bot_id=BOT).exists() == is_left
    assert UploadedPicture.objects.filter(pk=other_bots.pk).exists()


def test_a_handle_of_this_runs_own_upload_that_is_refused_waits_for_a_person() -> None:
    picture = make_picture()
    broadcast = make_proven(picture=picture)
    UploadedPicture.objects.create(bot_id=BOT, picture=picture, file_id="fresh", uploaded_at=clock.now())

    answered(broadcast, verdict_on(FileUnknown(""), file_id="fresh"))

    assert (broadcast.status, broadcast.reason) == ("paused", "Telegram refused the picture")


# The first message.


def test_the_first_message_proves_the_text_and_counts_the_showing_once() -> None:
    broadcast = make_broadcast(status="sending", hold_until=LONG_AGO, probe_until=clock.now())

    answered(broadcast, SENT, is_probe=True)
    first_sent_at = broadcast.first_sent_at
    answered(broadcast, SENT, is_probe=True)
    answered(broadcast, SENT)

    fundraiser = broadcast.fundraiser
    assert fundraiser
    fundraiser.refresh_from_db()
    assert (fundraiser.times_shown, fundraiser.last_shown_on) == (1, broadcast.date)
    assert first_sent_at
    assert broadcast.first_sent_at == first_sent_at
    assert (broadcast.hold_until, broadcast.probe_until) == (None, None)


def test_a_flood_that_is_told_while_a_probe_is_on_its_way_outlasts_its_success() -> None:
    broadcast = make_broadcast(status="sending", hold_until=LONG_AGO)
    probe, other = claimed(broadcast), claimed(broadcast)
    flooded = verdict_on(Flooded("429", wait=timedelta(seconds=10)), file_id="")

    record(broadcast, Answer(other, flooded, is_probe=False))
    record(broadcast, Answer(probe, SENT, is_probe=True))

    broadcast.refresh_from_db()
    assert broadcast.first_sent_at
    assert broadcast.hold_until
    assert broadcast.hold_until > clock.now()


@pytest.mark.parametrize(
    "answer",
    [
        GIVEN_BACK,
        RecipientGone("", left_reason="blocked"),
        ChatMoved("", new_id=-100),
        Flooded("429", wait=timedelta(seconds=10)),
        ContentRefused("can't parse"),
    ],
)
def test_a_probe_without_a_message_proves_nothing_and_lets_the_next_one_go(answer: ChannelError | Verdict) -> None:
    broadcast = make_broadcast(status="sending", probe_until=clock.now() + timedelta(seconds=40))

    answered(broadcast, answer, is_probe=True)

    assert (broadcast.first_sent_at, broadcast.probe_until) == (None, None)
    assert broadcast.fundraiser
    assert broadcast.fundraiser.times_shown == 0


def test_a_first_message_that_perhaps_arrived_proves_nothing_and_counts_as_shown() -> None:
    broadcast = make_broadcast(status="sending", probe_until=clock.now() + timedelta(seconds=40))

    answered(broadcast, OutcomeUnknown("timed out"), is_probe=True)

    fundraiser = broadcast.fundraiser
    assert fundraiser
    fundraiser.refresh_from_db()
    assert (broadcast.first_sent_at, fundraiser.times_shown) == (None, 1)
