"""What people do with the bot, and what they see of it."""

from itertools import count
from typing import Any

from subscribers.models import InboxUpdate, Subscriber
from tests.end_to_end.installation import Installation, Process, wait_until

_chat_ids = count(5001)
Message = dict[str, Any]


class Talk:
    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.sandbox = installation.sandbox

    def start_bot(self) -> Process:
        """A bot that listens."""
        return self.installation.bot().wait_for("The bot listens")

    def meet(self, first_name: str = "Оля", language: str = "en") -> int:
        """Somebody whom the bot does not know yet: their chat id."""
        chat_id = next(_chat_ids)
        chat = {"chat_id": chat_id, "first_name": first_name, "language_code": language}
        self.sandbox.post("/control/chats", [chat])
        return chat_id

    def say(self, chat_id: int, *texts: str) -> None:
        for text in texts:
            self.sandbox.post("/control/say", {"chat_id": chat_id, "text": text})

    def block(self, chat_id: int) -> None:
        self.sandbox.post("/control/block", {"chat_id": chat_id})

    def unblock(self, chat_id: int) -> None:
        self.sandbox.post("/control/unblock", {"chat_id": chat_id})

    def press(self, chat_id: int, message: Message) -> None:
        """The one button under a message."""
        data = message["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
        self.sandbox.post("/control/press", {"chat_id": chat_id, "message_id": message["message_id"], "data": data})

    def update(self, **update: Any) -> None:
        """Any update, nice or not."""
        self.sandbox.post("/control/update", update)

    def fault(self, fault: Any, **where: Any) -> None:
        self.installation.fault(fault, **where)

    def replies(self, chat_id: int, least: int = 1, *, seconds: float = 10) -> list[Message]:
        """What the chat got, as soon as it is so much."""
        wait_until(
            lambda: len(self.sandbox.sent_to(chat_id)) >= least,
            seconds=seconds,
            what=f"{least} replies",
            log=self.installation,
        )
        return self.sandbox.sent_to(chat_id)

    def polls(self) -> int:
        """How often the bot has asked for updates."""
        return [call["method"] for call in self.sandbox.get("/control/calls")].count("getUpdates")

    def settle(self, updates: int) -> None:
        """Wait until so many updates of this test have come and been handled, and none is left."""
        handled, waiting = InboxUpdate.objects.exclude(handled_at=None), InboxUpdate.objects.filter(handled_at=None)
        wait_until(
            lambda: handled.count() >= updates and not waiting.exists(),
            seconds=20,
            what=f"{updates} handled updates",
            log=self.installation,
        )

    def subscriber(self, chat_id: int) -> Subscriber:
        return Subscriber.objects.get(chat_id=chat_id)
