"""The methods of the Bot API that the stand-in knows, each with the parameters that it knows of it."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from donate1024.sandbox import account, commands, messages
from donate1024.sandbox.calls import Call
from donate1024.sandbox.world import World

_SENDING = "chat_id parse_mode reply_markup disable_notification protect_content"
_EDITING = "chat_id message_id parse_mode reply_markup"
_WEBHOOK = "url allowed_updates drop_pending_updates secret_token max_connections ip_address"


class Method(NamedTuple):
    name: str
    answer: Callable[[World, Call], Any | Awaitable[Any]]
    parameters: str = ""


_ALL = [
    Method("getMe", account.get_me),
    Method("getUpdates", account.get_updates, "offset limit timeout allowed_updates"),
    Method("setWebhook", account.set_webhook, _WEBHOOK),
    Method("deleteWebhook", account.delete_webhook, "drop_pending_updates"),
    Method("getWebhookInfo", account.get_webhook_info),
    Method("getChat", account.get_chat, "chat_id"),
    Method("sendChatAction", account.send_chat_action, "chat_id action"),
    Method("answerCallbackQuery", account.answer_callback_query, "callback_query_id text show_alert url cache_time"),
    Method("setMyCommands", commands.set_my_commands, "commands scope language_code"),
    Method("getMyCommands", commands.get_my_commands, "scope language_code"),
    Method("deleteMyCommands", commands.delete_my_commands, "scope language_code"),
    Method("setMyDescription", account.set_my_description, "description language_code"),
    Method("setMyShortDescription", account.set_my_short_description, "short_description language_code"),
    Method("sendMessage", messages.send_message, f"{_SENDING} text link_preview_options"),
    Method("sendPhoto", messages.send_photo, f"{_SENDING} photo caption show_caption_above_media has_spoiler"),
    Method("editMessageText", messages.edit_message_text, f"{_EDITING} text link_preview_options"),
    Method("editMessageCaption", messages.edit_message_caption, f"{_EDITING} caption show_caption_above_media"),
    Method("editMessageReplyMarkup", messages.edit_message_reply_markup, "chat_id message_id reply_markup"),
    Method("deleteMessage", messages.delete_message, "chat_id message_id"),
]
METHODS = {method.name.lower(): method for method in _ALL}  # Telegram ignores the case of their names
