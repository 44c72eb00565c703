"""Entities of a text: where in it they are, in UTF-16 units; what blanks and Telegram's own eyes do to them."""

import re
from itertools import takewhile

from donate1024.sandbox import Json

_NOTICED = re.compile(
    r"(?P<url>https?://[^\s<>\"]*[^\s<>\".,:;!?)])|(?<![\w/<>])(?P<bot_command>/[A-Za-z0-9_]{1,32}(?:@\w+)?)(?![\w/<>])"
)


def utf16_length(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)


def trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Without the blanks that Telegram cuts: all at the end; at the beginning up to the first entity."""
    text = text.rstrip(" \n")
    length = utf16_length(text)
    first = entities[0]["offset"] if entities else length
    blanks = sum(1 for _ in takewhile(lambda char: char in " \n", text[:first]))
    kept = [
        entity | {"offset": entity["offset"] - blanks, "length": min(entity["length"], length - entity["offset"])}
        for entity in entities
        if entity["offset"] < length
    ]
    return text[blanks:], kept


def with_noticed(text: str, entities: list[Json]) -> list[Json]:
    """With what Telegram notices beside the marked parts."""

    def is_apart(one: Json, other: Json) -> bool:
        ends = one["offset"] + one["length"], other["offset"] + other["length"]
        return bool(ends[0] <= other["offset"] or ends[1] <= one["offset"])

    more = [found for found in noticed(text) if all(is_apart(found, entity) for entity in entities)]
    return sorted([*entities, *more], key=lambda entity: (entity["offset"], -entity["length"]))


def noticed(text: str) -> list[Json]:
    """The entities that Telegram finds by itself, as far as a bot or a reader needs them: addresses and commands."""
    return [
        {
            "type": found.lastgroup,
            "offset": utf16_length(text[: found.start()]),
            "length": utf16_length(found[0]),
        }
        for found in _NOTICED.finditer(text)
    ]
