"""Whether Telegram would show this keyboard (td: ReplyMarkup, get_inline_keyboard_button)."""

import json
from functools import lru_cache
from typing import Any

from donate1024.sandbox import Json, links
from donate1024.sandbox.refusals import bad_request

MAX_BUTTONS = 100
MAX_CALLBACK_BYTES = 64
MAX_COPIED = 256
MAX_URL_BYTES = 2048  # Telegram's limit is not written down; no honest link comes near


@lru_cache(maxsize=256)  # one broadcast, one keyboard; nobody may change what comes back
def inline_keyboard(markup: str) -> Json | None:
    """The keyboard as Telegram gives it back, its links rewritten; None where there is none.

    Reply keyboards, which Telegram has, are refused: the page of phones cannot show them.
    """
    if not markup:
        return None
    try:
        parsed = json.loads(markup)
    except ValueError:
        raise bad_request("can't parse reply keyboard markup JSON object") from None
    if not isinstance(parsed, dict):
        raise bad_request("object expected as reply markup")
    if set(parsed) != {"inline_keyboard"}:
        raise bad_request("the sandbox shows inline keyboards only")
    rows = parsed["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request('can\'t parse inline keyboard: Field "inline_keyboard" must be an Array of Arrays')
    if sum(map(len, rows)) > MAX_BUTTONS:
        raise bad_request("reply markup is too long")
    kept = [[_button(button) for button in row] for row in rows if row]
    return {"inline_keyboard": kept} if kept else None


def _button(button: Any) -> Json:
    if not isinstance(button, dict):
        raise bad_request("can't parse inline keyboard button: expected an Object")
    if not isinstance(button.get("text"), str) or not button["text"].strip():
        raise bad_request("inline keyboard button text must be non-empty")
    match {name: value for name, value in button.items() if name != "text" and value != ""}:
        case {"url": str(url), **rest} if not rest:
            return {"text": button["text"], "url": _link(url)}
        case {"callback_data": str(data), **rest} if not rest:
            if len(data.encode()) > MAX_CALLBACK_BYTES:
                raise bad_request("BUTTON_DATA_INVALID")
        case {"copy_text": {"text": str(copied), **more}, **rest} if not rest and not more:
            if not 1 <= len(copied) <= MAX_COPIED:
                raise bad_request("BUTTON_COPY_TEXT_INVALID")
        case {}:
            raise bad_request(
                "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
                if len(button) == 1 or "" in button.values()
                else "the sandbox takes exactly one of url, callback_data and copy_text on a button"
            )
    return button


def _link(url: str) -> str:
    try:
        link = links.checked(url)
    except links.WrongLink as wrong:
        raise bad_request(f"inline keyboard button URL '{url}' is invalid: {wrong}") from None
    if len(link.encode()) > MAX_URL_BYTES:
        raise bad_request("BUTTON_URL_INVALID")
    return link
