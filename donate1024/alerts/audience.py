"""Who is told: the admin chats, also while the database that knows them is away."""

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from subscribers import admin_chats

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Audience:
    chats: tuple[int, ...]
    operators: frozenset[int]  # who gets one more line, a technical one


def read() -> Audience:
    """The admin chats as the database knows them; kept in a file for when it is away."""
    found = Audience(tuple(admin_chats.chat_ids()), frozenset(admin_chats.operators()))
    try:
        _remember(found)
    except OSError as error:
        logger.warning("The admin chats cannot be kept in a file: %s", error)
    return found


def remembered() -> Audience:
    """The admin chats as they were when the database last answered, to any process of this machine."""
    chats = list(settings.TELEGRAM_ADMIN_CHATS)
    try:
        linked = {int(chat_id): role for chat_id, role in json.loads(_file().read_text()).items()}
    except (OSError, ValueError, AttributeError):
        linked = {}
    operators = {chat_id for chat_id, role in linked.items() if role == admin_chats.Role.OPERATOR}
    return Audience(tuple(dict.fromkeys([*chats, *linked])), frozenset({*chats, *operators}))


def _remember(found: Audience) -> None:
    roles = admin_chats.Role
    text = json.dumps({chat: roles.OPERATOR if chat in found.operators else roles.CURATOR for chat in found.chats})
    file = _file()
    if file.is_file() and file.read_text() == text:
        return
    new = file.with_name(f"{file.name}.{os.getpid()}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:  # noqa: PTH123 -- born private
        out.write(text)
    new.replace(file)


def _file() -> Path:
    return Path(settings.STATE_DIR, "admin-chats.json")
