"""One frozen message to one Telegram chat: always exactly one Bot API call."""

from dataclasses import dataclass

from telegram import Bot, InlineKeyboardMarkup, LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import TelegramError

from delivery.channels.base import Receipt
from subscribers.models import storable
from subscribers.telegram.outcomes import as_channel_error, fitting


@dataclass(frozen=True, slots=True)
class FrozenMessage:
    """What everybody gets."""

    text: str
    buttons: list[list[dict[str, object]]]
    picture: bytes | None = None


class TelegramChannel:
    """The picture goes as bytes until Telegram has given it a `file_id`."""

    def __init__(self, bot: Bot, message: FrozenMessage) -> None:
        self.message = message
        self.file_id = ""
        self._bot = bot
        self._keyboard = InlineKeyboardMarkup.de_json({"inline_keyboard": message.buttons}, bot)

    @property
    def needs_upload(self) -> bool:
        return self.message.picture is not None and not self.file_id

    async def send(self, chat_id: int) -> Receipt:
        """Send the message once.

        Raises:
            ChannelError: what is known of a call that was not answered with a message.
        """
        try:
            if self.message.picture is None:
                return await self._send_text(chat_id)
            return await self._send_photo(chat_id, self.file_id or self.message.picture)
        except TelegramError as error:
            raise as_channel_error(error) from error

    async def _send_text(self, chat_id: int) -> Receipt:
        message = await self._bot.send_message(
            chat_id,
            self.message.text,
            parse_mode=ParseMode.HTML,
            reply_markup=self._keyboard,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
        )
        return Receipt(fitting(str(message.message_id)))

    async def _send_photo(self, chat_id: int, photo: str | bytes) -> Receipt:
        message = await self._bot.send_photo(
            chat_id,
            photo,
            caption=self.message.text,
            parse_mode=ParseMode.HTML,
            reply_markup=self._keyboard,
        )
        # The sizes come smallest first; any of them names the same picture.
        return Receipt(fitting(str(message.message_id)), file_id=storable(message.photo[-1].file_id))
