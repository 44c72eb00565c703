"""What the bot says: each reply is a template, in the language of whoever reads it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import redis.exceptions
from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import ParseMode
from telegram.error import TelegramError

from subscribers.admin_chats import Role
from subscribers.bot.events import Person
from subscribers.telegram.outcomes import Flooded, NotSent, as_channel_error
from subscribers.telegram.pace import Pace

logger = logging.getLogger(__name__)

BUTTON_BACK = "start"
PATIENCE = 30.0  # seconds; a later reply answers nothing any more
READ_WITHIN = 10.0  # seconds: the same person's next message waits behind a reply
RECONNECT_AFTER = 1.0  # seconds


class Replies:
    """Replies ask for no permit; they are booked afterwards, so that the broadcast gives way to them.

    A reply is repeated only while it is known not to have gone, and for half a minute at most: whoever misses it
    presses again.
    """

    def __init__(self, bot: Bot, pace: Pace) -> None:
        self._bot = bot
        self._pace = pace
        self._spacing = 1 / settings.TELEGRAM_MESSAGES_PER_SECOND
        # By the event loop's clock. Of many replies that wait, each goes at a moment of its own: all at once, at the
        # end of a flood wait, would be the next flood.
        self._quiet_until = self._next_at = 0.0

    async def welcome(self, person: Person) -> None:
        await self._say(person, "welcome")

    async def goodbye(self, person: Person) -> None:
        with translation.override(language_of(person)):
            back = InlineKeyboardButton(_("Come back"), callback_data=BUTTON_BACK)
        await self._say(person, "goodbye", InlineKeyboardMarkup.from_button(back))

    async def help(self, person: Person) -> None:
        await self._say(person, "help")

    async def linked(self, person: Person, role: Role) -> None:
        await self._say(person, "linked", role=role, is_group=person.chat_id < 0)

    async def one_moment(self, person: Person) -> None:
        await self._say(person, "one_moment")

    async def acknowledge(self, query_id: str) -> None:
        """End the waiting that a pressed button shows. It is no message: nothing is booked for it."""
        await self._call(lambda: self._bot.answer_callback_query(query_id, read_timeout=READ_WITHIN))

    async def _say(
        self, person: Person, template: str, keyboard: InlineKeyboardMarkup | None = None, **facts: object
    ) -> None:
        with translation.override(language_of(person)):
            words = {"person": person, "contact": settings.SUPPORT_CONTACT, **facts}
            text = render_to_string(f"subscribers/{template}.html", words).strip()
        await self._call(
            lambda: self._bot.send_message(
                person.chat_id, text, parse_mode=ParseMode.HTML, reply_markup=keyboard, read_timeout=READ_WITHIN
            )
        )
        with suppress(redis.exceptions.RedisError):  # without Valkey there is no broadcast that could give way
            await self._pace.book()

    async def _call(self, call: Callable[[], Awaitable[object]]) -> None:
        now = asyncio.get_running_loop().time
        give_up_at = now() + PATIENCE
        while await self._turn(give_up_at):
            try:
                await call()
            except TelegramError as error:
                match as_channel_error(error):
                    case Flooded(wait=wait):
                        self._quiet_until = now() + wait.total_seconds()
                        await self._common_quiet(wait.total_seconds())
                    case NotSent():
                        self._quiet_until = now() + RECONNECT_AFTER
                    case missed:
                        logger.info("A reply did not arrive: %s", type(missed).__name__)
                        return
            else:
                return
        logger.info("A reply was given up: Telegram cannot be written to")

    async def _turn(self, give_up_at: float) -> bool:
        """Wait for the moment of one call; False where it would come too late."""
        now = asyncio.get_running_loop().time
        self._quiet_until = max(self._quiet_until, now() + await self._common_quiet())
        while (moment := max(now(), self._quiet_until, self._next_at)) <= give_up_at:
            self._next_at = moment + self._spacing
            await asyncio.sleep(moment - now())
            if now() >= self._quiet_until:  # nobody was told to be quiet in the meantime
                return True
        return False

    async def _common_quiet(self, seconds: float = 0) -> float:
        """How long all must be quiet: a flood wait that the broadcast met holds the replies, and the reverse."""
        try:
            return await self._pace.be_quiet(seconds)
        except redis.exceptions.RedisError:
            return 0


def language_of(person: Person) -> str:
    return "en" if person.language.lower().startswith("en") else "uk"
