"""The methods around the messages: the bot itself, its updates, its buttons' answers."""

from typing import Any

from donate1024.sandbox import Json
from donate1024.sandbox.calls import Call
from donate1024.sandbox.messages import bot_user
from donate1024.sandbox.refusals import Refused, bad_request
from donate1024.sandbox.world import World

_ACTIONS = {"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice"}
_ACTIONS |= {"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note"}


def get_me(_: World, call: Call) -> Json:
    return bot_user(call.bot_id) | {
        "can_join_groups": True,
        "can_read_all_group_messages": False,
        "supports_inline_queries": False,
    }


async def get_updates(world: World, call: Call) -> list[Json]:
    queue = world.queues[call.bot_id]
    if queue.webhook:
        raise Refused(
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook "
            "first",
        )
    queue.interrupt("other getUpdates request; make sure that only one bot instance is running")
    if call.text("allowed_updates"):
        queue.allowed = _names(call, "allowed_updates")
    if offset := call.integer("offset", 0, -(2**31), 2**63):
        world.confirm(call.bot_id, offset)
    return await queue.poll(limit=call.integer("limit", 100, 1, 100), seconds=call.integer("timeout", 0, 0, 50))


def set_webhook(world: World, call: Call) -> bool:
    """Remembered, so that getUpdates conflicts with it; nothing is ever delivered to it."""
    if not call.text("url").startswith("https://") and call.text("url"):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    queue = world.queues[call.bot_id]
    queue.interrupt("setWebhook request")
    details = {"url": call.text("url"), "drop_pending_updates": call.flag("drop_pending_updates")}
    world.accept(call.bot_id, "setWebhook", details=details)
    return True


def delete_webhook(world: World, call: Call) -> bool:
    details = {"url": "", "drop_pending_updates": call.flag("drop_pending_updates")}
    world.accept(call.bot_id, "deleteWebhook", details=details)
    return True


def get_webhook_info(world: World, call: Call) -> Json:
    queue = world.queues[call.bot_id]
    waiting = len(queue.waiting)
    return {"url": queue.webhook, "has_custom_certificate": False, "pending_update_count": waiting}


def get_chat(world: World, call: Call) -> Json:
    """Works for those who blocked the bot, as at Telegram."""
    chat = world.chat(call.text("chat_id"))
    if chat.state in {"absent", "new"}:
        raise bad_request("chat not found")
    gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
    return chat.as_chat() | {
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(gifts, False),
    }


def send_chat_action(world: World, call: Call) -> bool:
    if call.text("action") not in _ACTIONS:
        raise bad_request("wrong parameter action in request")
    chat = world.chat(call.text("chat_id"))
    chat.check_open()
    world.accept(call.bot_id, "sendChatAction", chat_id=chat.chat_id, details={"action": call.text("action")})
    return True


def answer_callback_query(world: World, call: Call) -> bool:
    """Takes each id once."""
    query_id = call.text("callback_query_id")
    if query_id not in world.queries:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if len(call.text("text")) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    details = {"callback_query_id": query_id, "text": call.text("text"), "show_alert": call.flag("show_alert")}
    world.accept(call.bot_id, "answerCallbackQuery", chat_id=world.queries[query_id], details=details)
    return True


def set_my_description(world: World, call: Call) -> bool:
    return _describe(world, call, "setMyDescription", "description", 512)


def set_my_short_description(world: World, call: Call) -> bool:
    return _describe(world, call, "setMyShortDescription", "short_description", 120)


def _describe(world: World, call: Call, name: str, field: str, longest: int) -> bool:
    if len(call.text(field)) > longest:
        raise bad_request(f"{field.upper()}_TOO_LONG")
    world.accept(call.bot_id, name, text=call.text(field), details={"language_code": call.text("language_code")})
    return True


def _names(call: Call, parameter: str) -> list[Any]:
    names = call.parsed(parameter, [])
    if not isinstance(names, list):
        raise bad_request(f"can't parse {parameter}: expected an Array of String")
    return names
