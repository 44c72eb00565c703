"""Telegram's subset of HTML: checked, made valid, and counted as Telegram counts it.

Source: https://core.telegram.org/bots/api#html-style (the tags, the four named entities, what may not nest).
Custom emoji are left out: a bot sends them only with a bought name.
"""

import re
from collections.abc import Iterable
from html import escape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_ENTITIES = 100

# Each tag with the attributes that it may have, as they are written.
_PLAIN_TAGS = ("b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "tg-spoiler", "code", "pre", "blockquote")
_ATTRIBUTES = {tag: re.compile("") for tag in _PLAIN_TAGS} | {
    "a": re.compile(r'href="[^"]+"'),
    "span": re.compile(r'class="tg-spoiler"'),
    "code": re.compile(r'(class="language-[\w+#.-]+")?'),
    "blockquote": re.compile(r"(expandable)?"),
}
_KNOWN = ", ".join(sorted(_ATTRIBUTES))

# What a parser takes for a tag: everything else that begins with < is somebody's "5 < 10" or "<3".
_STRAY_BRACKET = re.compile(r"""<(?!/?[a-zA-Z](?:[^<>"']|"[^"<>]*"|'[^'<>]*')*>)""")
_STRAY_AMPERSAND = re.compile(r"&(?!(?:lt|gt|amp|quot|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_check_address = URLValidator(schemes=["http", "https"])


def normalise(source: str) -> str:
    """The same text as HTML that Telegram accepts: what only looks like markup is escaped, so that it shows literally.

    Normalising it again changes nothing.

    Raises:
        ValidationError: naming the tag, if one is unknown, not closed or closed in the wrong order.
    """
    return _parse(source).html


def visible_text(html: str) -> str:
    """What is read on the screen: the text without its markup."""
    return _parse(html).text


def visible_length(html: str) -> int:
    """The length that Telegram limits: of the text without markup, in UTF-16 units.

    Telegram counts code points; UTF-16 units are never fewer.
    """
    return len(visible_text(html).encode("utf-16-le")) // 2


def without_controls(text: str) -> str:
    """The text without characters that no screen shows and no database keeps; every line break is one line feed."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _parse(source: str) -> "_Parser":
    parser = _Parser()
    parser.feed(_STRAY_BRACKET.sub("&lt;", _STRAY_AMPERSAND.sub("&amp;", without_controls(source))))
    parser.close()
    return parser


class _Parser(HTMLParser):
    """Reads the text once: its HTML written anew, and what is visible of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._written: list[str] = []
        self._visible: list[str] = []
        self._open: list[str] = []
        self._entities = 0

    @property
    def html(self) -> str:
        return "".join(self._written)

    @property
    def text(self) -> str:
        return "".join(self._visible)

    def close(self) -> None:
        super().close()
        if self._open:
            raise _refused(self._open[-1], _("The tag <%(tag)s> is not closed: write </%(tag)s> where it ends."))
        if self._entities > MAX_ENTITIES:
            raise ValidationError(
                _("%(count)d tags; Telegram takes at most %(limit)d."),
                params={"count": self._entities, "limit": MAX_ENTITIES},
            )

    def handle_data(self, data: str) -> None:
        data = without_controls(data)  # they may have been written as &#0;
        self._written.append(escape(data, quote=False))
        self._visible.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._check_place(tag)
        attributes = _rewritten(attrs)
        if not _ATTRIBUTES[tag].fullmatch(attributes):
            raise _refused(
                tag, _('The tag <%(tag)s> is not written as Telegram wants it. Links: <a href="https://…">.')
            )
        if tag == "a":
            _check_link(dict(attrs)["href"] or "")
        self._entities += 1
        self._open.append(tag)
        self._written.append(f"<{tag} {attributes}>" if attributes else f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            raise _refused(tag, _("</%(tag)s> closes nothing here: tags are closed in the reverse order of opening."))
        self._open.pop()
        self._written.append(f"</{tag}>")

    def _check_place(self, tag: str) -> None:
        if tag not in _ATTRIBUTES:
            raise _refused(tag, _("The tag <%(tag)s> is unknown to Telegram. Remove it; known are: %(known)s."))
        if tag in self._open:
            raise _refused(tag, _("The tag <%(tag)s> stands inside another one of its kind."))
        if {"code", "pre"} & set(self._open) and (self._open[-1], tag) != ("pre", "code"):
            raise _refused(tag, _("The tag <%(tag)s> stands inside code, where Telegram knows no other tag."))


def _rewritten(attrs: Iterable[tuple[str, str | None]]) -> str:
    return " ".join(name if value is None else f'{name}="{escape(value)}"' for name, value in attrs)


def _check_link(address: str) -> None:
    try:
        _check_address(address)
    except ValidationError:
        raise ValidationError(
            _("The link %(address)s does not work: it must begin with https:// and have no spaces."),
            params={"address": address},
        ) from None


def _refused(tag: str, message: "StrOrPromise") -> ValidationError:
    return ValidationError(message, params={"tag": tag, "known": _KNOWN})
