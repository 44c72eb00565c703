"""The ledger: every change of a delivery on its way, each one statement and one commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from delivery import statements
from delivery.models import Delivery

SENDING_TIMEOUT = timedelta(minutes=3)  # after it nobody waits for the answer any more: the outcome is unknown


@dataclass(frozen=True, slots=True)
class Claim:
    """One delivery marked as `sending`: from here on its message may be sent, by the holder of the token only."""

    delivery_id: int
    subscriber_id: int
    chat_id: int
    token: UUID
    claimed_at: datetime


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a claim."""

    claim: Claim
    status: Delivery.Status
    reason: str = ""
    message_id: str = ""
    wait: timedelta = timedelta(0)  # of one that becomes pending again: how long to leave it alone


# One statement, so that the answers and the next claims cost one commit. Only delivery rows are locked, and the
# subscribers are joined in the reading: an UPDATE over a join lets two workers both win the same row.
_TURN = """
WITH result AS (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(tokens)s::uuid[], %(statuses)s::text[], %(reasons)s::text[], %(messages)s::text[],
        %(waits)s::interval[]
    ) AS result (id, token, status, reason, message_id, wait)
), settled AS (
    UPDATE delivery_delivery AS delivery
    SET status = CASE WHEN delivery.perhaps_out AND result.status IN ('skipped', 'failed') THEN 'unknown'
        ELSE result.status END, reason = result.reason, message_id = result.message_id,
        not_before = now() + %(offset)s + result.wait,
        settled_at = CASE WHEN result.status <> 'pending' THEN now() + %(offset)s END
    FROM result
    WHERE delivery.id = result.id AND delivery.token = result.token AND delivery.status IN ('sending', 'unknown')
), due AS MATERIALIZED (
    SELECT delivery.id, subscriber.id AS subscriber_id, subscriber.chat_id
    FROM delivery_delivery AS delivery
    JOIN subscribers_subscriber AS subscriber ON subscriber.id = delivery.subscriber_id
    JOIN delivery_broadcast AS broadcast ON broadcast.id = delivery.broadcast_id
    WHERE broadcast.id = %(broadcast)s AND broadcast.status IN ('planned', 'sending')
        AND broadcast.revision = %(revision)s AND broadcast.run_until > now() + %(offset)s
        AND (%(probing)s OR broadcast.first_sent_at IS NOT NULL AND broadcast.hold_until IS NULL)
        AND delivery.status = 'pending' AND delivery.channel = 'telegram' AND delivery.revision = broadcast.revision
        AND delivery.not_before <= now() + %(offset)s AND subscriber.left_at IS NULL
    ORDER BY delivery.not_before
    LIMIT %(want)s
    FOR UPDATE OF delivery SKIP LOCKED
)
UPDATE delivery_delivery AS delivery
SET status = 'sending', reason = '', token = %(token)s, claimed_at = now() + %(offset)s, settled_at = NULL
FROM due
WHERE delivery.id = due.id
RETURNING delivery.id, due.subscriber_id, due.chat_id, delivery.token, delivery.claimed_at
"""


def turn(
    *, broadcast_id: int, revision: int, results: Sequence[Result], want: int, token: UUID, is_probe: bool = False
) -> list[Claim]:
    """Record the results, and claim up to `want` due deliveries of the frozen `revision` under `token`.

    A result counts only while its claim is the row's last one; one that comes after the row became `unknown` still
    counts. Nothing is claimed of a broadcast that is paused, on hold, past its hour, or not yet proved by a first
    message, unless `is_probe`.
    """
    claimed = statements.rows(
        _TURN,
        ids=[result.claim.delivery_id for result in results],
        tokens=[result.claim.token for result in results],
        statuses=[result.status.value for result in results],
        reasons=[result.reason[:200] for result in results],
        messages=[result.message_id for result in results],
        waits=[result.wait for result in results],
        broadcast=broadcast_id,
        revision=revision,
        want=want,
        token=token,
        probing=is_probe,
    )
    return [Claim(*row) for row in claimed]


def give_back(*, token: UUID) -> None:
    """Return to `pending` what was claimed under a token whose claims never reached the sender."""
    Delivery.objects.filter(token=token, status=Delivery.Status.SENDING).update(status=Delivery.Status.PENDING)


_WIN_PROBE = """
UPDATE delivery_broadcast
SET probe_until = now() + %(offset)s + interval '40 seconds', status = 'sending'
WHERE id = %(broadcast)s AND status IN ('planned', 'sending')
    AND (%(uploading)s OR first_sent_at IS NULL OR hold_until IS NOT NULL)
    AND (hold_until IS NULL OR hold_until <= now() + %(offset)s)
    AND (probe_until IS NULL OR probe_until <= now() + %(offset)s)
    AND (first_sent_at IS NOT NULL OR begin_until IS NULL OR begin_until > now() + %(offset)s)
"""


def win_probe(*, broadcast_id: int, is_upload: bool) -> bool:
    """Take the right to send the one message that shows whether the rest may go, or that uploads the picture.

    It lapses after 40 s, longer than any call lasts, so that a killed holder does not stop the morning.
    """
    return bool(statements.change(_WIN_PROBE, broadcast=broadcast_id, uploading=is_upload))


_SECONDS_TO_NEXT = """
SELECT extract(epoch FROM greatest(delivery.not_before, broadcast.hold_until) - now() - %(offset)s)::float
FROM delivery_broadcast AS broadcast
JOIN delivery_delivery AS delivery ON delivery.broadcast_id = broadcast.id
JOIN subscribers_subscriber AS subscriber ON subscriber.id = delivery.subscriber_id
WHERE broadcast.id = %(broadcast)s AND broadcast.status IN ('planned', 'sending')
    AND broadcast.revision = %(revision)s AND broadcast.run_until > now() + %(offset)s
    AND delivery.status = 'pending' AND delivery.channel = 'telegram' AND subscriber.left_at IS NULL
ORDER BY delivery.not_before
LIMIT 1
"""


def seconds_to_next(*, broadcast_id: int, revision: int) -> float | None:
    """How long until something of the revision may be claimed (0 or less: now); None when nothing will be."""
    due = statements.rows(_SECONDS_TO_NEXT, broadcast=broadcast_id, revision=revision)
    return float(due[0][0]) if due else None
