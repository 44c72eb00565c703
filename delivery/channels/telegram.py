"""One frozen message to one Telegram chat: always exactly one Bot API call."""

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from telegram import InlineKeyboardMarkup
from telegram.constants import ParseMode
from telegram.error import TelegramError

from delivery.channels.base import Receipt
from subscribers.models import storable
from subscribers.telegram.client import TelegramBot
from subscribers.telegram.outcomes import as_channel_error, fitting


@dataclass(frozen=True, slots=True)
class FrozenMessage:
    """What everybody gets."""

    text: str
    buttons: list[list[dict[str, object]]]
    picture: bytes | None = None


class TelegramChannel:
    """The picture goes as bytes until Telegram has given it a `file_id`; from then on calls differ in the chat only."""

    def __init__(self, bot: TelegramBot, message: FrozenMessage) -> None:
        self.message = message
        self._bot = bot
        self._keyboard = json.dumps({"inline_keyboard": message.buttons})
        self.file_id = ""

    @property
    def needs_upload(self) -> bool:
        return self.message.picture is not None and not self.file_id

    @property
    def file_id(self) -> str:
        """Under which Telegram keeps the picture; empty until it does."""
        return self._file_id

    @file_id.setter
    def file_id(self, file_id: str) -> None:
        self._file_id = file_id
        self._form = urlencode(self._fields()).encode()

    def _fields(self) -> dict[str, str]:
        fields = {"parse_mode": ParseMode.HTML.value, "reply_markup": self._keyboard}
        if self.message.picture is None:
            return fields | {"text": self.message.text, "link_preview_options": '{"is_disabled": true}'}
        return fields | {"caption": self.message.text, "photo": self._file_id}

    async def send(self, chat_id: int) -> Receipt:
        """Send the message once.

        Raises:
            ChannelError: what is known of a call that was not answered with a message.
        """
        try:
            picture = self.message.picture
            if picture is not None and not self.file_id:
                return await self._upload(chat_id, picture)
            return await self._send(chat_id)
        except TelegramError as error:
            raise as_channel_error(error) from error

    async def _send(self, chat_id: int) -> Receipt:
        method = "sendMessage" if self.message.picture is None else "sendPhoto"
        message = await self._bot.post_form(method, b"chat_id=%d&%b" % (chat_id, self._form))
        return Receipt(fitting(str(message["message_id"])))

    async def _upload(self, chat_id: int, picture: bytes) -> Receipt:
        message = await self._bot.send_photo(
            chat_id,
            picture,
            caption=self.message.text,
            parse_mode=ParseMode.HTML,
            reply_markup=InlineKeyboardMarkup.de_json(json.loads(self._keyboard), self._bot),
        )
        # The sizes come smallest first; any of them names the same picture.
        return Receipt(fitting(str(message.message_id)), file_id=storable(message.photo[-1].file_id))
