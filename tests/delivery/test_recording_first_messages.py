"""What the answer to a first message proves."""

from datetime import timedelta

import pytest

from delivery.outcomes import GIVEN_BACK, Verdict, verdict_on
from delivery.recording import Answer
from posts import clock
from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    ContentRefused,
    Flooded,
    OutcomeUnknown,
    RecipientGone,
)
from tests.delivery.answering import SENT, answered, claimed, record
from tests.factories import LONG_AGO, make_broadcast

pytestmark = pytest.mark.django_db


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
