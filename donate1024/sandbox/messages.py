"""Sending, editing and deleting: the methods that put something before people's eyes."""

import time

from donate1024.sandbox import Json, keyboards, markup, photos
from donate1024.sandbox.calls import Call
from donate1024.sandbox.markup import Marked
from donate1024.sandbox.refusals import bad_request
from donate1024.sandbox.world import Message, World

# Counted in code points after the markup is gone (td: get_formatted_text).
MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_AGE_TO_DELETE = 48 * 3600  # seconds


def bot_user(bot_id: int) -> Json:
    return {"id": bot_id, "is_bot": True, "first_name": "donate1024", "username": f"donate{bot_id}_bot"}


def as_json(world: World, message: Message) -> Json:
    """The message as Telegram describes it."""
    chat = world.chats[message.chat_id]
    described: Json = {"message_id": message.message_id, "chat": chat.as_chat(), "date": int(message.at)}
    described["from"] = chat.as_user() if message.bot_id is None else bot_user(message.bot_id)
    if message.photo:
        described["photo"] = world.photos[photos.original(message.photo)].sizes()
    if message.text:
        body, entities = ("caption", "caption_entities") if message.photo else ("text", "entities")
        described |= {body: message.text} | ({entities: message.entities} if message.entities else {})
    if message.reply_markup:
        described["reply_markup"] = message.reply_markup
    if message.edited_at:
        described["edit_date"] = int(message.edited_at)
    return described


def send_message(world: World, call: Call) -> Json:
    return _send(world, call, "sendMessage", _text(call))


def send_photo(world: World, call: Call) -> Json:
    caption = _caption(call)
    if "photo" in call.uploads:
        content = call.uploads["photo"]
        new = photos.uploaded(content, bot_id=call.bot_id, nth=len(world.photos))
        return _send(world, call, "sendPhoto", caption, photo=new.file_id, upload=(new, content))
    file_id = call.text("photo")
    if not file_id:
        raise bad_request("there is no photo in the request")
    if world.photo(call.bot_id, file_id) is None:
        raise bad_request("wrong file identifier/HTTP URL specified")
    return _send(world, call, "sendPhoto", caption, photo=file_id)


def _send(
    world: World,
    call: Call,
    name: str,
    body: Marked,
    photo: str | None = None,
    upload: tuple[photos.Photo, bytes] | None = None,
) -> Json:
    """Content first, then the rate, then the chat: the order in which Telegram finds fault."""
    keyboard = keyboards.inline_keyboard(call.text("reply_markup"))
    world.flood.take(at=time.monotonic())
    chat = world.chat(call.text("chat_id"))
    chat.check_open()
    if upload:
        world.keep_photo(*upload)
    message_id = world.next_message_id
    world.accept(
        call.bot_id,
        name,
        chat_id=chat.chat_id,
        message_id=message_id,
        text=body.text,
        entities=body.entities,
        html=body.html,
        photo=photo,
        uploaded=upload is not None,
        reply_markup=keyboard,
        is_silent=call.flag("disable_notification"),
    )
    return as_json(world, world.messages[chat.chat_id][message_id])


def edit_message_text(world: World, call: Call) -> Json:
    message = _own(world, call, "edit")
    if message.photo:
        raise bad_request("there is no text in the message to edit")
    return _edit(world, call, "editMessageText", message, _text(call))


def edit_message_caption(world: World, call: Call) -> Json:
    message = _own(world, call, "edit")
    if not message.photo:
        raise bad_request("there is no caption in the message to edit")
    return _edit(world, call, "editMessageCaption", message, _caption(call))


def edit_message_reply_markup(world: World, call: Call) -> Json:
    message = _own(world, call, "edit")
    return _edit(world, call, "editMessageReplyMarkup", message, Marked(message.text, list(message.entities)))


def _edit(world: World, call: Call, name: str, message: Message, body: Marked) -> Json:
    """An edit without a keyboard takes the keyboard away, as at Telegram."""
    keyboard = keyboards.inline_keyboard(call.text("reply_markup"))
    if (body.text, body.entities, keyboard) == (message.text, message.entities, message.reply_markup):
        raise bad_request(
            "message is not modified: specified new message content and reply markup are exactly the same as a current "
            "content and reply markup of the message"
        )
    world.accept(
        call.bot_id,
        name,
        chat_id=message.chat_id,
        message_id=message.message_id,
        text=body.text,
        entities=body.entities,
        html=body.html,
        reply_markup=keyboard,
    )
    return as_json(world, message)


def delete_message(world: World, call: Call) -> bool:
    message = _own(world, call, "delete")
    if world.clock.now() - message.at > MAX_AGE_TO_DELETE:
        raise bad_request("message can't be deleted for everyone")
    world.accept(call.bot_id, "deleteMessage", chat_id=message.chat_id, message_id=message.message_id)
    return True


def _own(world: World, call: Call, purpose: str) -> Message:
    chat = world.chat(call.text("chat_id"))
    chat.check_open()
    message = world.messages[chat.chat_id].get(call.integer("message_id", 0, 0, 2**31))
    if message is None:
        raise bad_request(f"message to {purpose} not found")
    if message.bot_id != call.bot_id:
        raise bad_request(f"message can't be {purpose.removesuffix('e')}ed")
    return message


def _text(call: Call) -> Marked:
    body = _marked(call, call.text("text"))
    if not body.text:
        raise bad_request("message text is empty")
    if len(body.text) > MAX_TEXT:
        raise bad_request("message is too long")
    return body


def _caption(call: Call) -> Marked:
    body = _marked(call, call.text("caption"))
    if len(body.text) > MAX_CAPTION:
        raise bad_request("message caption is too long")
    return body


def _marked(call: Call, text: str) -> Marked:
    match call.text("parse_mode").lower():
        case "":
            return markup.from_plain(text)
        case "html":
            return markup.from_html(text)
        case "markdown" | "markdownv2":
            raise bad_request("the sandbox reads no parse_mode but HTML")
    raise bad_request("unsupported parse_mode")
