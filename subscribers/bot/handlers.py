"""What the bot does about an event: one domain call, then the answer.

Each may happen twice: a kill between the answer and the mark on the update repeats it.
"""

from dataclasses import dataclass
from enum import StrEnum

from posts import clock
from subscribers import admin_chats
from subscribers.admin_chats import Role
from subscribers.bot.database import Database
from subscribers.bot.events import (
    Added,
    Blocked,
    Event,
    LinkOpened,
    Person,
    Pressed,
    Removed,
    Said,
    Unblocked,
    Upgraded,
)
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
            case Said(person=person, command=Command.START, payload=payload):
                if not await self._link(person, payload, name=person.label):
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
                await self.database.call(lose, event.chat_id)
            case Unblocked() | Added():
                await self.database.call(come_back, event.chat_id)
            case Upgraded(chat_id=chat_id, to=to):
                await self.database.call(follow, chat_id, to)
            case LinkOpened(chat_id=chat_id, title=title, payload=payload):
                await self._link(Person(chat_id), payload, name=title)

    async def _link(self, whose: Person, payload: str, *, name: str) -> bool:
        """Whether the payload made their chat an admin chat. A wrong one is answered like none: it tells nothing."""
        role = await self.database.call(open_link, payload, whose.chat_id, name) if payload else None
        if role:
            await self.replies.linked(whose, role)
        return role is not None

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


def come_back(chat_id: int) -> None:
    Subscriber.objects.bring_back(chat_id=chat_id, at=clock.now())
    admin_chats.regain(chat_id)


def lose(chat_id: int) -> None:
    leave(chat_id, Reason.BLOCKED)
    admin_chats.lose(chat_id)


def follow(chat_id: int, to: int) -> None:
    Subscriber.objects.follow(chat_id=chat_id, to=to, at=clock.now())
    admin_chats.follow(chat_id=chat_id, to=to)


def open_link(payload: str, chat_id: int, name: str) -> Role | None:
    return admin_chats.open_link(payload, chat_id=chat_id, name=name, at=clock.now())
