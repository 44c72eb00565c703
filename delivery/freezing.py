"""Freezing: the message that everybody gets, rendered once, whatever becomes of the fundraiser later."""

import logging

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _, gettext_noop

from delivery import history
from delivery.history import Change
from delivery.models import Broadcast
from delivery.refusals import CannotChange, NotApproved, NothingSendable, NotSendable
from posts import showing
from posts.models import Fundraiser
from posts.rendering import telegram as rendering

logger = logging.getLogger(__name__)


def freeze_todays(broadcast: Broadcast) -> None:
    """Freeze whichever has its turn; one that was spoiled after its approval does not cost everybody the morning.

    Raises:
        posts.showing.NothingToShow: if no fundraiser may be shown on the broadcast's date.
    """
    unsendable: dict[int, NotSendable] = {}
    while True:
        try:
            choice = showing.choose(day=broadcast.date, passing_over=set(unsendable))
        except showing.NothingToShow as nothing:
            if not unsendable:
                raise
            raise NothingSendable("; ".join(map(str, unsendable.values()))) from nothing
        try:
            freeze(broadcast, choice.fundraiser.pk)
        except NotSendable as error:
            unsendable[choice.fundraiser.pk] = error
        else:
            break
    for why in unsendable.values():
        logger.error(
            gettext_noop(
                "A fundraiser had its turn and could not be sent: %s. People get the next one instead. "
                "What to do: mend it before its next turn."
            ),
            why,
        )
    if choice.is_shortened:
        logger.warning("too few fundraisers: shown again after %s days", choice.cooldown_days)


def freeze(broadcast: Broadcast, fundraiser_id: int) -> None:
    """Put the fundraiser's message into the broadcast; the caller saves it.

    Raises:
        NotApproved: if a person has not approved the fundraiser.
        NotSendable: if its message cannot be sent as it stands.
    """
    fundraiser = _lock_fundraiser(fundraiser_id)
    try:
        message = rendering.render(fundraiser)
    except ValidationError as error:
        why = " ".join(error.messages)
        raise NotSendable(_("fundraiser %(id)s cannot be sent: %(why)s") % {"id": fundraiser.pk, "why": why}) from error
    broadcast.fundraiser = fundraiser
    broadcast.text = message.text
    broadcast.buttons = message.buttons
    broadcast.picture_id = message.picture


@transaction.atomic
def refreeze(broadcast: Broadcast, *, by: str) -> None:
    """Take the mended fundraiser's message instead, while nobody has got, or may have got, the old one.

    It stays paused. All or nothing.

    Raises:
        CannotChange: if it is not paused, or its message is out already.
        NotApproved: if the fundraiser is not approved any more.
        NotSendable: if its message cannot be sent as it stands.
    """
    held = Broadcast.objects.select_for_update(of=["self"]).get(pk=broadcast.pk)
    if held.status != Broadcast.Status.PAUSED or held.fundraiser_id is None:
        raise CannotChange(_("only a paused broadcast takes another text; pause it first"))
    freeze(held, held.fundraiser_id)
    held.revision += 1
    held.save()
    # A claim of the old text that is under way has its row by now, or never gets it. What is out is not touched:
    # whoever records its answer holds that row, and waits for the broadcast's.
    held.deliveries.not_out().update(revision=held.revision)
    if held.deliveries.exclude(revision=held.revision).exists():
        raise CannotChange(_("this broadcast is out already: its text stays as it was sent"))
    history.note(Change.What.REFROZEN, broadcast_id=held.pk, by=by)
    logger.info("broadcast %s takes its text anew", held.pk)


def _lock_fundraiser(fundraiser_id: int) -> Fundraiser:
    """The fundraiser, held against edits until the message is frozen."""
    fundraiser = Fundraiser.objects.select_for_update().filter(pk=fundraiser_id).first()
    if fundraiser is None:
        raise NotApproved(_("there is no fundraiser %s") % fundraiser_id)
    if fundraiser.status != Fundraiser.Status.APPROVED:
        said = {"id": fundraiser_id, "status": fundraiser.get_status_display()}
        raise NotApproved(_("fundraiser %(id)s is not approved: %(status)s") % said)
    return fundraiser
