"""What people do with the bot, as the updates that Telegram makes of it."""

import uuid
from dataclasses import asdict, replace

from donate1024.sandbox import Json, entities
from donate1024.sandbox.chats import Chat, State
from donate1024.sandbox.messages import as_json, bot_user
from donate1024.sandbox.world import Message, World

FIRST_SUPERGROUP = 1_002_000_000_000  # a supergroup's id is as far down


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
    before, after = ("member", "kicked") if state == "blocked" else ("kicked", "member")
    _tell_of_membership(world, bot_id, _become(world, chat, state), before, after)


def upgrade(world: World, bot_id: int, chat: Chat) -> Chat:
    """Make a supergroup of a group: the supergroup, whose id is another.

    The bot hears of it in both chats, and that it joined the new one; not that it left the old one
    (tdlib/telegram-bot-api#266).
    """
    if chat.type != "group" or chat.state != "open" or chat.migrated_to is not None:
        raise Impossible(f"chat {chat.chat_id} is no group that could be upgraded")
    new = replace(chat, chat_id=chat.chat_id - FIRST_SUPERGROUP, type="supergroup")
    world.record("chat", chat=asdict(replace(chat, migrated_to=new.chat_id)))
    world.record("chat", chat=asdict(new))
    _tell(world, bot_id, chat, {"migrate_to_chat_id": new.chat_id})
    _tell(world, bot_id, new, {"migrate_from_chat_id": chat.chat_id})
    _tell_of_membership(world, bot_id, new, "left", "member")
    return new


def _tell(world: World, bot_id: int, chat: Chat, what: Json) -> None:
    """A service message."""
    message: Json = {"message_id": world.next_message_id, "chat": chat.as_chat(), "from": chat.as_user()}
    world.put_update(bot_id, {"message": message | {"date": int(world.clock.now()), **what}})


def _tell_of_membership(world: World, bot_id: int, chat: Chat, before: str, after: str) -> None:
    until = {"kicked": {"until_date": 0}}
    old, new = ({"user": bot_user(bot_id), "status": status} | until.get(status, {}) for status in (before, after))
    change: Json = {"chat": chat.as_chat(), "from": chat.as_user(), "date": int(world.clock.now())}
    world.put_update(bot_id, {"my_chat_member": change | {"old_chat_member": old, "new_chat_member": new}})


def _become(world: World, chat: Chat, state: State) -> Chat:
    world.record("chat", chat=asdict(replace(chat, state=state)))
    return world.chats[chat.chat_id]
