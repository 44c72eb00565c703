"""What the answer to a probe that was no message says, and what is claimed after one."""

from datetime import timedelta
from uuid import uuid4

import pytest

from delivery.ledger import Claim
from delivery.models import Broadcast, Delivery
from delivery.outcomes import GIVEN_BACK, Verdict
from delivery.recording import Answer, record_and_claim
from posts import clock
from tests.delivery.running import make_proven, turn
from tests.delivery.traces import errors, pause_alert
from tests.factories import make_broadcast, make_delivery

pytestmark = pytest.mark.django_db

Status = Delivery.Status
REFUSED = Verdict(Status.FAILED, "not enough rights")


def probe(broadcast: Broadcast) -> Claim:
    make_delivery(broadcast)
    (claim,) = turn(broadcast, is_probe=True)
    return claim


def record(broadcast: Broadcast, *answers: Answer, want: int = 0, is_probe: bool = False) -> list[Claim]:
    claims = record_and_claim(
        broadcast_id=broadcast.pk, revision=1, bot_id=1024, answers=answers, want=want, token=uuid4(), is_probe=is_probe
    )
    broadcast.refresh_from_db()
    return claims


def test_a_first_chat_that_refuses_waits_for_a_person_who_is_told_why(caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_broadcast(status="sending")

    record(broadcast, Answer(probe(broadcast), REFUSED, is_probe=True))

    reason = "Telegram refused the first chat: not enough rights"
    assert (broadcast.status, broadcast.reason) == ("paused", reason)
    assert errors(caplog) == [pause_alert(broadcast, reason)]


@pytest.mark.parametrize(
    ("first_sent", "verdict"), [(True, REFUSED), (False, GIVEN_BACK), (False, Verdict(Status.SKIPPED, "blocked"))]
)
def test_after_another_accepted_message_or_without_a_refusal_a_probe_pauses_nothing(
    verdict: Verdict, *, first_sent: bool
) -> None:
    broadcast = make_broadcast(status="sending", first_sent_at=clock.now() if first_sent else None)
    make_broadcast(date=clock.now().date(), status="sending")  # another one, without a first message

    record(broadcast, Answer(probe(broadcast), verdict, is_probe=True))

    assert broadcast.status == "sending"


def test_a_group_in_flood_is_left_alone_for_as_long_as_telegram_says() -> None:
    broadcast = make_proven()
    claim = probe(broadcast)

    record(broadcast, Answer(claim, Verdict(Status.PENDING, wait=timedelta(seconds=60)), is_probe=False))

    assert Delivery.objects.get().not_before > clock.now() + timedelta(seconds=50)


@pytest.mark.parametrize("is_probe", [False, True])
def test_without_a_first_message_only_a_probe_is_given_something(*, is_probe: bool) -> None:
    broadcast = make_broadcast(status="sending")
    make_delivery(broadcast)

    assert len(record(broadcast, want=1, is_probe=is_probe)) == is_probe
