"""The inbox as the bot uses it: the clock and the bot's id come in here."""

from posts import clock
from subscribers.bot.events import Payload
from subscribers.models import InboxUpdate
from subscribers.telegram.client import bot_id

AT_ONCE = 100  # as many as Telegram hands out in one answer


def store(updates: list[Payload]) -> None:
    """When this returns they are committed, and Telegram may forget them."""
    InboxUpdate.objects.store(updates, bot_id=bot_id(), at=clock.now())


def unhandled_after(pk: int) -> list[InboxUpdate]:
    """The next ones, in their order."""
    return list(InboxUpdate.objects.unhandled().filter(bot_id=bot_id(), pk__gt=pk)[:AT_ONCE])


def mark_handled(pks: list[int]) -> None:
    InboxUpdate.objects.mark_handled(pks, at=clock.now())


def prune() -> None:
    InboxUpdate.objects.prune(at=clock.now())
