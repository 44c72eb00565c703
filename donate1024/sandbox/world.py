"""Everything the stand-in knows: rebuilt from its journal, and changed only by events that are written there first."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from donate1024.sandbox import Json
from donate1024.sandbox.chats import Chat
from donate1024.sandbox.clock import Clock
from donate1024.sandbox.flood import Flood
from donate1024.sandbox.journal import Journal
from donate1024.sandbox.photos import Photo, original
from donate1024.sandbox.refusals import bad_request
from donate1024.sandbox.updates import Queue

# What every entry of the ledger has; `text` is what people see, `details` what only this method has.
_ENTRY: Json = {"chat_id": None, "message_id": None, "text": "", "entities": [], "html": None, "photo": None}
_ENTRY |= {"uploaded": False, "reply_markup": None, "is_silent": False, "details": {}, "status": 200}


@dataclass(slots=True)
class Message:
    message_id: int
    chat_id: int
    bot_id: int | None  # None: a person wrote it
    at: float
    text: str
    entities: Sequence[Json]
    photo: str | None = None  # a file_id
    reply_markup: Json | None = None
    edited_at: float | None = None


class World:
    """Chats and their messages, photos, updates, callback queries, commands, and the ledger of accepted calls."""

    def __init__(self, directory: Path, clock: Clock, flood: Flood) -> None:
        self.clock = clock
        self.flood = flood
        self.files = directory / "files"
        self.files.mkdir(parents=True, exist_ok=True)
        self.chats: dict[int, Chat] = {}
        self.messages: defaultdict[int, dict[int, Message]] = defaultdict(dict)
        self.photos: dict[str, Photo] = {}
        self.queues: defaultdict[int, Queue] = defaultdict(Queue)
        self.queries: dict[str, int] = {}  # callback queries without an answer: in which chat
        self.answers: dict[int, Json] = {}  # the last answer to a callback query in a chat
        self.commands: dict[str, list[Json]] = {}
        self.ledger: list[Json] = []
        self.sent = 0
        self.next_message_id = 1
        self.events = 0
        self._journal = Journal(directory / "ledger.jsonl")
        for event in self._journal.replay():
            self._apply(event)

    def record(self, kind: str, **fields: object) -> None:
        """Write an event down, then make it true."""
        event = {"event": kind, **fields}
        self._journal.write(event)
        self._apply(event)

    def accept(self, bot_id: int, method: str, **what: object) -> None:
        """Enter an accepted call into the ledger, and let it take effect."""
        self.record("call", **{**_ENTRY, "at": self.clock.now(), "bot_id": bot_id, "method": method, **what})

    def chat(self, chat_id: str) -> Chat:
        """The chat that a call names, by its number or a group's @name. Raises Refused where there is none."""
        if not chat_id:
            raise bad_request("chat_id is empty")
        if chat_id.startswith("@"):
            public = (chat for chat in self.chats.values() if chat.type != "private")
            chat = next((chat for chat in public if f"@{chat.username}".lower() == chat_id.lower()), None)
        else:
            chat = self.chats.get(int(chat_id)) if chat_id.removeprefix("-").isdecimal() else None
        if chat is None:
            raise bad_request("chat not found")
        return chat

    def photo(self, bot_id: int, file_id: str) -> Photo | None:
        """The bot's photo: a file_id is good only for the bot that got it."""
        photo = self.photos.get(original(file_id))
        return photo if photo and photo.bot_id == bot_id else None

    def keep_photo(self, photo: Photo, content: bytes) -> None:
        (self.files / photo.digest).write_bytes(content)
        self.record("photo", photo=asdict(photo))

    def confirm(self, bot_id: int, offset: int) -> None:
        """Forget the bot's updates before the offset; written down only where there are any."""
        queue = self.queues[bot_id]
        if len(queue.left_by(offset)) < len(queue.waiting):
            self.record("confirmed", bot_id=bot_id, offset=offset)

    def put_update(self, bot_id: int, update: Json) -> None:
        """Queue what happened, if the bot asked for such updates."""
        if self.queues[bot_id].takes(update):
            update = {"update_id": self.queues[bot_id].next_id, **update}
            self.record("update", bot_id=bot_id, update=update)

    def _apply(self, event: Json) -> None:
        self.events += 1
        match event:
            case {"event": "call"}:
                self.ledger.append(event)
                self._take_effect(event)
            case {"event": "chat", "chat": chat}:
                self.chats[chat["chat_id"]] = Chat(**chat)
            case {"event": "photo", "photo": photo}:
                self.photos[photo["file_id"]] = Photo(**photo)
            case {"event": "said", "message": message}:
                self._add(Message(**message))
            case {"event": "pressed", "query_id": query_id, "chat_id": chat_id}:
                self.queries[query_id] = chat_id
            case {"event": "update", "bot_id": bot_id, "update": update}:
                self.queues[bot_id].put(update)
            case {"event": "confirmed", "bot_id": bot_id, "offset": offset}:
                self.queues[bot_id].waiting = self.queues[bot_id].left_by(offset)

    def _add(self, message: Message) -> None:
        self.messages[message.chat_id][message.message_id] = message
        self.next_message_id = max(self.next_message_id, message.message_id + 1)

    def _take_effect(self, call: Json) -> None:
        """What an accepted call changes."""
        match call:
            case {"method": "sendMessage" | "sendPhoto"}:
                names = ("message_id", "chat_id", "bot_id", "at", "text", "entities", "photo", "reply_markup")
                self._add(Message(**{name: call[name] for name in names}))
                self.sent += 1
            case {"method": "editMessageText" | "editMessageCaption" | "editMessageReplyMarkup"}:
                message = self.messages[call["chat_id"]][call["message_id"]]
                message.text, message.entities = call["text"], call["entities"]
                message.reply_markup, message.edited_at = call["reply_markup"], call["at"]
            case {"method": "deleteMessage"}:
                del self.messages[call["chat_id"]][call["message_id"]]
            case {"method": "answerCallbackQuery", "details": answer}:
                self.answers[self.queries.pop(answer["callback_query_id"])] = answer
            case {"method": "setMyCommands" | "deleteMyCommands", "details": details}:
                self.commands[details["for"]] = details["commands"]
            case {"method": "setWebhook" | "deleteWebhook", "bot_id": bot_id, "details": details}:
                self.queues[bot_id].webhook = details["url"]
                if details["drop_pending_updates"]:
                    self.queues[bot_id].waiting.clear()
