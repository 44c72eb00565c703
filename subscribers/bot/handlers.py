"""What the bot does about an event: one domain call, then the answer.

Each may happen twice: a kill between the answer and the mark on the update repeats it.
"""

from dataclasses import dataclass
from enum import StrEnum

from posts import clock
from subscribers.bot.database import Database
from subscribers.bot.events import Added, Blocked, Event, Person, Pressed, Removed, Said, Unblocked, Upgraded
from subscribers.bot.replies import BUTTON_BACK, Replies
from subscribers.models import Subscriber

Reason = Subscriber.LeftReason


class Command(StrEnum):
    START = "/start"
    STOP = "/stop"


@dataclass(frozen=True, slots=True)
class Handlers:
    database: Database
    replies: Replies

    async def handle(self, event: Event) -> None:
        match event:
            case Said(person=person, command=Command.START):
                await self.database.call(subscribe, person)
                await self.replies.welcome(person)
            case Said(person=person, command=Command.STOP):
                await self.database.call(leave, person.chat_id, Reason.STOPPED)
                await self.replies.goodbye(person)
            case Said(person=person):
                await self.replies.help(person)
            case Pressed():
                await self._press(event)
            case Blocked() | Removed():
                await self.database.call(leave, event.chat_id, Reason.BLOCKED)
            case Unblocked() | Added():
                await self.database.call(come_back, event.chat_id)
            case Upgraded(chat_id=chat_id, to=to):
                await self.database.call(follow, chat_id, to)

    async def _press(self, pressed: Pressed) -> None:
        has_joined = pressed.button == BUTTON_BACK and await self.database.call(subscribe, pressed.person)
        await self.replies.acknowledge(pressed.query_id)
        if has_joined:  # pressing once more says nothing new
            await self.replies.welcome(pressed.person)


def is_small_talk(event: Event) -> bool:
    return isinstance(event, Said) and event.command not in {*Command}


def is_leaving(event: Event) -> bool:
    return isinstance(event, Blocked) or (isinstance(event, Said) and event.command == Command.STOP)


def subscribe(person: Person) -> bool:
    return Subscriber.objects.subscribe(chat_id=person.chat_id, at=clock.now(), **person.names)


def leave(chat_id: int, reason: Reason) -> bool:
    return Subscriber.objects.leave(chat_id=chat_id, reason=reason, at=clock.now())


def come_back(chat_id: int) -> bool:
    return Subscriber.objects.bring_back(chat_id=chat_id, at=clock.now())


def follow(chat_id: int, to: int) -> None:
    Subscriber.objects.follow(chat_id=chat_id, to=to, at=clock.now())
