"""What people do with the bot, as the updates that Telegram makes of it."""

import uuid
from dataclasses import asdict, replace

from donate1024.sandbox import Json, entities
from donate1024.sandbox.chats import Chat, State
from donate1024.sandbox.messages import as_json, bot_user
from donate1024.sandbox.world import Message, World


class Impossible(ValueError):
    """No person could do this."""


def say(world: World, bot_id: int, chat: Chat, text: str) -> int:
    """Write to the bot; the number of the message. A first message makes a new chat open."""
    if chat.state == "new":
        chat = _become(world, chat, "open")
    if chat.state != "open":
        raise Impossible(f"nobody can write in chat {chat.chat_id}: it is {chat.state}")
    message = Message(world.next_message_id, chat.chat_id, None, world.clock.now(), text, entities.noticed(text))
    world.record("said", message=asdict(message))
    world.put_update(bot_id, {"message": as_json(world, message)})
    return message.message_id


def press(world: World, chat: Chat, message_id: int, data: str) -> str:
    """Press a button under a message of the bot; the callback query's id."""
    message = world.messages[chat.chat_id].get(message_id)
    keyboard = message.reply_markup["inline_keyboard"] if message and message.reply_markup else []
    if (
        message is None
        or message.bot_id is None
        or data not in {button.get("callback_data") for row in keyboard for button in row}
    ):
        raise Impossible(f"there is no button {data!r} under message {message_id} in chat {chat.chat_id}")
    query_id = str(uuid.uuid4().int >> 65)
    world.record("pressed", query_id=query_id, chat_id=chat.chat_id)
    query: Json = {"id": query_id, "from": chat.as_user(), "message": as_json(world, message), "data": data}
    query["chat_instance"] = str(chat.chat_id)
    world.put_update(message.bot_id, {"callback_query": query})
    return query_id


def block(world: World, bot_id: int, chat: Chat) -> None:
    _change(world, bot_id, chat, "blocked")


def unblock(world: World, bot_id: int, chat: Chat) -> None:
    _change(world, bot_id, chat, "open")


def _change(world: World, bot_id: int, chat: Chat, state: State) -> None:
    """Telegram tells a bot that it was blocked or unblocked, and nothing where nothing changed."""
    if chat.state not in {"open", "blocked"}:
        raise Impossible(f"chat {chat.chat_id} is {chat.state}")
    if chat.state == state:
        return
    chat = _become(world, chat, state)
    kicked: Json = {"user": bot_user(bot_id), "status": "kicked", "until_date": 0}
    member: Json = {"user": bot_user(bot_id), "status": "member"}
    old, new = (member, kicked) if state == "blocked" else (kicked, member)
    change: Json = {"chat": chat.as_chat(), "from": chat.as_user(), "date": int(world.clock.now())}
    world.put_update(bot_id, {"my_chat_member": change | {"old_chat_member": old, "new_chat_member": new}})


def _become(world: World, chat: Chat, state: State) -> Chat:
    world.record("chat", chat=asdict(replace(chat, state=state)))
    return world.chats[chat.chat_id]
