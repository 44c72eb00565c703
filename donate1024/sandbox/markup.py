"""Telegram's HTML: the text and entities it becomes, or the refusal in Telegram's words (td: parse_html).

What Telegram lets pass, passes here: a lone `&`, `&nbsp;` and other unknown references stay as they are written, a
link that is no link loses its entity. Not imitated: how Telegram splits and merges entities that overlap.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from donate1024.sandbox import Json, links
from donate1024.sandbox.entities import noticed, trimmed, utf16_length, with_noticed
from donate1024.sandbox.refusals import Refused, bad_request

MAX_ENTITIES = 100

_TYPES = {"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline"}
_TYPES |= {"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough"}
_TYPES |= {"span": "spoiler", "tg-spoiler": "spoiler", "tg-emoji": "custom_emoji", "a": "text_link"}
_TYPES |= {"code": "code", "pre": "pre", "blockquote": "blockquote"}
# Of entities with the same bounds Telegram names the outer one first.
_ORDER = ["blockquote", "expandable_blockquote", "pre", "code", "text_link", "bold", "italic", "underline"]
_ORDER += ["strikethrough", "spoiler", "custom_emoji"]

_END = "\0"  # a sentinel: td reads a C string, and its messages depend on it
_REFERENCE = re.compile(r"&(?:#x(?P<hex>[0-9A-Fa-f]+)|#(?P<decimal>[0-9]+)|(?P<name>[A-Za-z]+))")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_PLAIN = re.compile(r"[^\0][^<&\0]*")
_SPACES = re.compile(r"[ \t\r\n\v]*")
_TAG_NAME = re.compile(r"[^ \t\r\n\v\0>]*")
_ATTRIBUTE_NAME = re.compile(r"[^ \t\r\n\v\0=>/\"']*")
_TOKEN = re.compile(r"[A-Za-z0-9.-]*")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text as people see it: entities in UTF-16 units; `html` is what was sent, None where it was plain text."""

    text: str
    entities: list[Json]
    html: str | None = None


@lru_cache(maxsize=256)  # a broadcast is one text; and one object for all keeps a long ledger small
def from_html(html: str) -> Marked:
    """Raises Refused with Telegram's description; offsets in it are bytes of the UTF-8 text."""
    text, entities = _Parser(html).parsed()
    text, entities = trimmed(text, entities)
    if len(entities) > MAX_ENTITIES:
        raise bad_request("ENTITIES_TOO_LONG")
    return Marked(text, with_noticed(text, entities), html)


def from_plain(text: str) -> Marked:
    text, _ = trimmed(text, [])
    return Marked(text, noticed(text))


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    argument: str
    offset: int  # in UTF-16 units
    part: int  # where its text begins in the parser's parts


class _Parser:
    def __init__(self, html: str) -> None:
        self.source = html.replace(_END, " ") + _END
        self.at = 0
        self.parts: list[str] = []
        self.length = 0
        self.open: list[_Tag] = []
        self.entities: list[Json] = []

    def parsed(self) -> tuple[str, list[Json]]:
        while (char := self.source[self.at]) != _END:
            if char == "<" and self.source[self.at + 1] == "/":
                self._end_tag()
            elif char == "<":
                self._start_tag()
            else:
                part = (self._reference() if char == "&" else None) or self._take(_PLAIN)
                self.parts.append(part)
                self.length += utf16_length(part)
        if self.open:
            raise _cannot_parse(f'Can\'t find end tag corresponding to start tag "{self.open[-1].name}"')
        for entity in self.entities:
            if entity["type"] == "code":
                entity.pop("language", None)  # a language counts only inside pre
        self.entities.sort(key=lambda entity: (entity["offset"], -entity["length"], _ORDER.index(entity["type"])))
        return "".join(self.parts), self.entities

    @property
    def here(self) -> str:
        return self.source[self.at]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.source, self.at)
        taken = found[0] if found else ""
        self.at += len(taken)
        return taken

    def _refuse(self, what: str, at: int, more: str = "") -> NoReturn:
        raise _cannot_parse(f"{what} at byte offset {len(self.source[:at].encode())}{more}")

    def _reference(self) -> str | None:
        """The character that `&...` stands for, taken; None where it stands for itself."""
        found = _REFERENCE.match(self.source, self.at)
        if found is None or found.end() - self.at >= 10:
            return None
        char = _NAMED.get(found["name"])
        if not found["name"]:
            code = int(found["hex"] or found["decimal"], 16 if found["hex"] else 10)
            if 0xD800 <= code <= 0xDFFF:
                raise _cannot_parse(
                    "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched "
                    "surrogate code units"
                )
            char = chr(code) if 0 < code < 0x10FFFF else None
        if char is not None:
            self.at = found.end() + (self.source[found.end()] == ";")
        return char

    def _start_tag(self) -> None:
        begin = self.at
        self.at += 1
        name = self._take(_TAG_NAME).lower()
        if self.here == _END:
            self._refuse("Unclosed start tag", begin)
        if name not in _TYPES:
            self._refuse(f'Unsupported start tag "{name}"', begin)
        argument = ""
        self._take(_SPACES)
        while self.here != ">":
            argument = _argument(name, *self._attribute(name, begin)) or argument
            self._take(_SPACES)
        self.at += 1
        if name == "span" and argument != "spoiler":
            self._refuse('Tag "span" must have class "tg-spoiler"', begin)
        self.open.append(_Tag(name, argument, self.length, len(self.parts)))

    def _attribute(self, tag: str, begin: int) -> tuple[str, str]:
        name = self._take(_ATTRIBUTE_NAME)
        if not name:
            self._refuse(f'Empty attribute name in the tag "{tag}"', begin)
        self._take(_SPACES)
        value = ""
        if self.here == "=":
            self.at += 1
            self._take(_SPACES)
            if self.here == _END:
                self._refuse(f'Unclosed start tag "{tag}"', begin)
            value = self._value()
            if self.here == _END:
                self._refuse("Unclosed start tag", begin)
        if self.here == _END:
            self._refuse(f'Unclosed start tag "{tag}"', begin)
        return name, value

    def _value(self) -> str:
        begin, quote = self.at, self.here
        if quote not in "'\"":
            token = self._take(_TOKEN)
            if self.here not in " \t\r\n\v\0>":
                self._refuse("Unexpected end of name token", begin)
            return token.lower()
        self.at += 1
        parts = []
        while self.here not in (quote, _END):
            char = self._reference() if self.here == "&" else None
            if char is None:
                char = self.here
                self.at += 1
            parts.append(char)
        if self.here == quote:
            self.at += 1
        return "".join(parts)

    def _end_tag(self) -> None:
        begin = self.at
        if not self.open:
            self._refuse("Unexpected end tag", begin)
        self.at += 2
        name = self._take(_TAG_NAME).lower()
        self._take(_SPACES)
        if self.here != ">":
            self._refuse("Unclosed end tag", begin)
        tag = self.open.pop()
        if name not in ("", tag.name):
            self._refuse("Unmatched end tag", begin, f', expected "</{tag.name}>", found "</{name}>"')
        self.at += 1
        if self.length > tag.offset:
            self._add_entity(tag)

    def _add_entity(self, tag: _Tag) -> None:
        entity: Json = {"type": _TYPES[tag.name], "offset": tag.offset, "length": self.length - tag.offset}
        last = self.entities[-1] if self.entities else {}
        same = (last.get("offset"), last.get("length")) == (entity["offset"], entity["length"])
        if tag.name == "tg-emoji":
            if not (tag.argument.isascii() and tag.argument.isdigit() and 0 < int(tag.argument[:20]) < 2**63):
                raise _cannot_parse("Invalid custom emoji identifier specified")
            entity["custom_emoji_id"] = tag.argument
        elif tag.name == "a":
            try:
                entity["url"] = links.checked(tag.argument or "".join(self.parts[tag.part :]))
            except links.WrongLink:
                return
        elif tag.name == "blockquote" and tag.argument:
            entity["type"] = "expandable_blockquote"
        elif tag.name == "pre" and same and last["type"] == "code" and "language" in last:
            last["type"] = "pre"
            return
        elif tag.name == "code" and tag.argument:
            if same and last["type"] == "pre":
                last["language"] = tag.argument
                return
            entity["language"] = tag.argument
        self.entities.append(entity)


def _argument(tag: str, attribute: str, value: str) -> str:
    match tag, attribute:
        case ("a", "href") | ("tg-emoji", "emoji-id"):
            return value
        case ("code", "class") if value.startswith("language-"):
            return value.removeprefix("language-")
        case ("span", "class") if value.startswith("tg-"):
            return value.removeprefix("tg-")
        case ("blockquote", "expandable"):
            return "1"
    return ""


def _cannot_parse(description: str) -> Refused:
    return bad_request(f"can't parse entities: {description}")
