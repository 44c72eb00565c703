"""Secrets out of what people read: each is replaced by the name of its setting, in brackets."""

import html
import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, unquote

from django.conf import settings

SECRETS = (
    "TELEGRAM_BOT_TOKEN",
    "SECRET_KEY",
    "FLOWER_BASIC_AUTH",
    "METRICS_TOKEN",
    "BLUESKY_APP_PASSWORD",
    "GEMINI_API_KEY",
    "EMAIL_HOST_PASSWORD",
    "CURATOR_PASSWORD",
)
# Addresses with a user and a password inside. urllib reads the proxies' names in both spellings.
ADDRESSES = ("DATABASE_URL", "REDIS_URL", "EMAIL_URL", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
SECRET_PATHS = ("HEARTBEAT_URL",)  # whoever knows the path may report in our place
# What is shorter is a word that occurs elsewhere ("postgres"): blotting it out would hide more than it protects.
SHORTEST = 6
# A token and a password in an address are recognised by their looks too: an old one, another bot's.
_LOOKS = (
    r"(?P<token>(?<!\d)\d{3,}(?::|%3[Aa])[\w-]{30,})|(?P<user>://[^\s/:@]*:)[^\s/]+(?=@)"
    # One-time links: for the first password, for an admin chat.
    r"|(?P<once>/admin/first/)[\w-]+/[\w-]{20,}|(?P<start>[?&]start(?:group)?=)[\w-]{22}(?![\w-])"
)
# Not `urlsplit`: it raises on a bracket, and ends a password at its first slash.
_USER_AND_PASSWORD = re.compile(r"://([^/:@]*):(.+)@")


def redact(text: str) -> str:
    """The text without any secret that this process' settings and environment know, nor what looks like one.

    Redact first, shorten afterwards: half a secret is not recognised.
    """
    names, pattern = _known(tuple(_configured()))
    return pattern.sub(lambda found: _stand_in(found, names), text)


def _stand_in(found: re.Match[str], names: dict[str, str]) -> str:
    if found["token"]:
        return "[TELEGRAM_BOT_TOKEN]"
    if found["user"]:
        return f"{found['user']}[password]"
    if before := found["once"] or found["start"]:
        return f"{before}[one-time]"
    return f"[{names[found[0]]}]"


def _configured() -> Iterator[tuple[str, str]]:
    """The settings that hold a secret, by name: read anew each time, and compiled only when one has changed."""
    for name in (*SECRETS, *ADDRESSES, *SECRET_PATHS):
        for value in (os.environ.get(name), getattr(settings, name, None) if settings.configured else None):
            if value:
                yield name, str(value)


@lru_cache(maxsize=8)
def _known(configured: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], re.Pattern[str]]:
    names = {
        form: name
        for name, value in configured
        for secret in _inside(name, value)
        if len(secret) >= SHORTEST
        for form in _spellings(secret)
    }
    longest_first = sorted(names, key=len, reverse=True)
    return names, re.compile("|".join([*map(re.escape, longest_first), _LOOKS]))


def _inside(name: str, value: str) -> Iterator[str]:
    """What of the setting is secret. Settings that are wrong come here too: nothing may raise."""
    if name in SECRETS:
        yield value
        if ":" in value:  # the token's secret half, Flower's password
            yield value.partition(":")[2]
            yield _as_basic(value)
    elif name in SECRET_PATHS:
        path, _, query = value.partition("://")[2].partition("/")[2].partition("?")
        yield from (path.strip("/"), query)
    elif found := _USER_AND_PASSWORD.search(value):
        user, password = found.groups()
        yield from (password, unquote(password), _as_basic(f"{unquote(user)}:{unquote(password)}"))


def _as_basic(user_and_password: str) -> str:
    """As HTTP's basic authentication carries it."""
    return b64encode(user_and_password.encode(errors="replace")).decode()


def _spellings(secret: str) -> set[str]:
    """As it stands in an address, a JSON text, a `repr` and a page."""
    plain = {
        secret,
        quote(secret, safe="", errors="replace"),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        repr(secret.encode(errors="replace"))[2:-1],
    }
    return plain | {html.escape(spelling) for spelling in plain}
