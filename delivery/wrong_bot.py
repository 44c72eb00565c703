"""Telling a list of people who left from a bot whom nobody ever met: the second one unsubscribes nobody."""

from delivery import brakes, reasons
from delivery.models import Broadcast, Delivery
from subscribers.models import Subscriber

ALL_OF_FIRST = 5  # nobody was reached: a list may be shorter than what follows
FIRST, GONE_OF_FIRST = 50, 20
LATEST, GONE_OF_LATEST = 200, 100  # more than that many


def weigh_gone(broadcast_id: int) -> None:
    """Pause where far too many chats are gone, and undo what was concluded from them.

    Called with each answer that somebody is gone, in its transaction. A person who resumes it takes the word of those
    answers: they are not weighed again.
    """
    # Held, so that of two slices at once the later one sees what the earlier one did.
    broadcast = Broadcast.objects.select_for_update(of=["self"]).get(pk=broadcast_id)
    if broadcast.gone_confirmed:
        return
    answered = list(
        broadcast.deliveries.answered()
        .order_by("-settled_at", "-pk")
        .values_list("pk", "subscriber_id", "reason")[:LATEST]
    )
    gone = [(pk, subscriber_id) for pk, subscriber_id, reason in answered if reason in reasons.GONE]
    if broadcast.reason == reasons.WRONG_BOT or _are_too_many([reason for *_, reason in reversed(answered)]):
        if not brakes.pause(broadcast_id, reason=reasons.WRONG_BOT):  # somebody was quicker; answers may still come
            Broadcast.objects.filter(pk=broadcast_id, status=Broadcast.Status.PAUSED).update(reason=reasons.WRONG_BOT)
        Subscriber.objects.undo_gone(subscriber_id for _, subscriber_id in gone)
        Delivery.objects.filter(pk__in=[pk for pk, _ in gone]).skipped().update(
            status=Delivery.Status.PENDING, reason="", settled_at=None
        )


def _are_too_many(answers: list[str]) -> bool:
    """Of the reasons of the last answers, oldest first. Fewer than LATEST are all there were."""
    are_gone = [reason in reasons.GONE for reason in answers]
    if all(are_gone):
        return len(answers) >= ALL_OF_FIRST
    are_first = len(answers) < LATEST and sum(are_gone[:FIRST]) >= GONE_OF_FIRST
    return are_first or sum(are_gone) > GONE_OF_LATEST
