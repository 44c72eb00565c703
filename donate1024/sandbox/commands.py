"""The bot's commands in each scope, as strict as Telegram: what is checked, in which order and in which words.

Read in td/telegram/BotCommand.cpp and BotCommandScope.cpp of TDLib, which the Bot API server runs on.
"""

import json
import re

from donate1024.sandbox import Json
from donate1024.sandbox.calls import Call
from donate1024.sandbox.refusals import bad_request
from donate1024.sandbox.world import World

MAX_COMMANDS, MAX_COMMAND, MAX_DESCRIPTION = 100, 32, 256
_EVERYWHERE = {"default", "all_private_chats", "all_group_chats", "all_chat_administrators"}
_IN_ONE_CHAT = {"chat", "chat_administrators", "chat_member"}


def set_my_commands(world: World, call: Call) -> bool:
    given = call.parsed("commands", [])
    if not isinstance(given, list) or not all(isinstance(command, dict) for command in given):
        raise bad_request("can't parse commands: expected an Array of BotCommand")
    key, chat_id = _key(world, call)
    commands = [_checked(command) for command in given]
    if len(commands) > MAX_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    world.accept(call.bot_id, "setMyCommands", chat_id=chat_id, details={"for": key, "commands": commands})
    return True


def delete_my_commands(world: World, call: Call) -> bool:
    key, chat_id = _key(world, call)
    world.accept(call.bot_id, "deleteMyCommands", chat_id=chat_id, details={"for": key, "commands": []})
    return True


def get_my_commands(world: World, call: Call) -> list[Json]:
    """Those of exactly this scope and language."""
    return world.commands.get(_key(world, call)[0], [])


def _checked(given: Json) -> Json:
    """The command as it is kept: trimmed, without its slash."""
    command, description = str(given.get("command", "")).strip(), str(given.get("description", "")).strip()
    command = command.removeprefix("/")
    for name, value, longest in (
        ("command", command, MAX_COMMAND),
        ("command description", description, MAX_DESCRIPTION),
    ):
        if not value:
            raise bad_request(f"{name} must be non-empty")
        if len(value) > longest:
            raise bad_request(f"{name} length must not exceed {longest}")
    if not re.fullmatch("[a-z0-9_]+", command):
        raise bad_request("BOT_COMMAND_INVALID")
    return {"command": command, "description": description}


def _key(world: World, call: Call) -> tuple[str, int | None]:
    """What a list of commands is kept under, and the chat that it is for, if it is for one."""
    scope = call.parsed("scope", {"type": "default"})
    kind = scope.get("type") if isinstance(scope, dict) else None
    if kind not in _EVERYWHERE | _IN_ONE_CHAT:
        raise bad_request("can't parse BotCommandScope: Unsupported type specified")
    chat_id = _chat_id(world, call, kind) if kind in _IN_ONE_CHAT else None
    language = call.text("language_code")
    if language and not re.fullmatch("[a-z]{2}", language):
        raise bad_request("invalid language code specified")
    return json.dumps([call.bot_id, kind, chat_id, scope.get("user_id"), language]), chat_id


def _chat_id(world: World, call: Call, kind: str) -> int:
    """A chat that the bot has met: one whose person blocked it still counts, as for getChat."""
    chat = world.chat(call.chat_id)
    if chat.state in {"absent", "new"}:
        raise bad_request("chat not found")
    if chat.type == "channel":
        raise bad_request("can't change commands in channel chats")
    if chat.type != "private":
        chat.check_open()
    elif kind != "chat":
        raise bad_request("can't use specified scope in private chats")
    return chat.chat_id
