"""The same bot against a Telegram that others wrote. It knows no `my_chat_member`."""

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from subscribers.models import Subscriber
from tests.end_to_end.installation import Installation, wait_until
from tests.telegram_peer import TelegramPeer, flood

pytestmark = pytest.mark.end_to_end

OLIA: dict[str, Any] = {"id": 5134861499, "is_bot": False, "first_name": "Оля <3", "language_code": "en"}
CHAT = {"id": OLIA["id"], "type": "private", "first_name": OLIA["first_name"]}
_update_ids = count(700_000_001)


@pytest.fixture
def peer(transactional_db: None, tmp_path: Path) -> Iterator[TelegramPeer]:
    """With our bot polling it."""
    installation = Installation(tmp_path)
    with TelegramPeer() as peer:
        bot = installation.start("bot", sys.executable, "manage.py", "run_bot", TELEGRAM_API_URL=peer.url)
        bot.wait_for("The bot listens")
        yield peer
        bot.stop()
    installation.close()


def push(peer: TelegramPeer, **update: Any) -> None:
    peer.push({"update_id": next(_update_ids), **update}, settings.TELEGRAM_BOT_TOKEN)


def say(peer: TelegramPeer, text: str) -> None:
    push(peer, message={"message_id": 1, "date": 1774785600, "chat": CHAT, "from": OLIA, "text": text})


def texts(peer: TelegramPeer) -> list[str]:
    return [fields["text"] for method, fields, _ in peer.calls if method == "sendMessage"]


def wait_for_reply(peer: TelegramPeer, words: str) -> None:
    wait_until(lambda: any(words in text for text in texts(peer)), seconds=10, what=f"a reply with {words!r}")


def left_reason() -> str:
    return Subscriber.objects.get(chat_id=OLIA["id"]).left_reason


def test_start_stop_and_back_by_the_button(peer: TelegramPeer) -> None:
    say(peer, "/start")
    wait_for_reply(peer, "Оля &lt;3")
    say(peer, "/stop")
    wait_for_reply(peer, "every morning together")
    after_stop = left_reason()

    push(peer, callback_query={"id": "77", "from": OLIA, "chat_instance": "1", "data": "start"})

    wait_until(lambda: left_reason() == "", what="the return")
    assert after_stop == Subscriber.LeftReason.STOPPED


def test_a_flood_wait_delays_the_reply(peer: TelegramPeer) -> None:
    peer.faults["sendMessage", OLIA["id"]].append(flood(1))

    say(peer, "/stop")

    wait_until(lambda: len(texts(peer)) == 2, seconds=10, what="the second try")
