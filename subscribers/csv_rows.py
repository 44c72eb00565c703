"""The lines of a subscribers' CSV, read strictly: what is not plainly right is refused, never guessed."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from subscribers.models import Subscriber

COLUMNS = ("chat_id", "username", "first_name", "language", "joined_at", "left_at", "left_reason")
LARGEST_ID = 2**52  # "at most 52 significant bits": core.telegram.org/bots/api#chat
# A spreadsheet runs a cell that begins so as a formula; a quote before it, ours or a name's own, stops that.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


class Unreadable(Exception):
    """The file as a whole is no list of subscribers."""


class BadCell(ValueError):
    """One cell that cannot be taken as it is."""


@dataclass(frozen=True, slots=True)
class Row:
    chat_id: int
    username: str
    first_name: str
    language: str
    joined_at: datetime | None
    left_at: datetime | None
    left_reason: str


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int  # in the file, from 1; the first one of an entry that spans several
    reason: str


def read(content: bytes) -> Iterator[Row | BadLine]:
    """The entries of a file in UTF-8 or CP1251, with commas, semicolons or tabs, a header above them.

    Raises:
        Unreadable: there is no header, or no `chat_id` in it.
    """
    text = _decoded(content)
    entries = _entries(text)
    _, header = next(entries, (0, []))
    names = [cell.strip().lower() for cell in header] if isinstance(header, list) else []
    if "chat_id" not in names:
        raise Unreadable("the first line must name the columns, and one of them must be chat_id")
    for number, cells in entries:
        try:
            yield _row(names, cells)
        except BadCell as bad:
            yield BadLine(number, str(bad))


def guarded(text: str) -> str:
    """The text as no spreadsheet takes it for a formula; `_plain` undoes it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _plain(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1251", errors="replace")


def _entries(text: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Each entry that is not empty with the number of its first line, or with what is wrong with its quotes."""
    first_line = text.lstrip().partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first_line.count), strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, csv.Error(f"{error}, up to line {reader.line_num}")
        else:
            if any(map(str.strip, cells)):
                yield number, cells


def _row(names: list[str], cells: list[str] | csv.Error) -> Row:
    if isinstance(cells, csv.Error):
        raise BadCell(str(cells))
    if any(map(str.strip, cells[len(names) :])):
        raise BadCell("more cells than the header has")
    given = dict(zip(names, map(str.strip, cells), strict=False))
    left_at = _moment(given, "left_at")
    return Row(
        chat_id=_chat_id(given["chat_id"]),
        username=_text(given, "username").removeprefix("@"),
        first_name=_text(given, "first_name"),
        language=_text(given, "language"),
        joined_at=_moment(given, "joined_at"),
        left_at=left_at,
        left_reason=_left_reason(given.get("left_reason", ""), has_left=left_at is not None),
    )


def _chat_id(cell: str) -> int:
    if not re.fullmatch(r"-?[1-9][0-9]{0,15}", cell) or abs(int(cell)) > LARGEST_ID:
        raise BadCell(f"chat_id {cell[:40]!r} is no Telegram id")
    return int(cell)


def _text(given: dict[str, str], name: str) -> str:
    text = _plain(given.get(name, ""))
    longest = Subscriber.LONGEST[name]
    if "\0" in text or len(text) > longest:
        raise BadCell(f"{name} is longer than {longest} characters, or not text")
    return text


def _moment(given: dict[str, str], name: str) -> datetime | None:
    """A moment without a zone is one of TIME_ZONE."""
    cell = given.get(name, "")
    if not cell:
        return None
    try:
        moment = parse_datetime(cell)
        if moment is not None:
            return (make_aware(moment) if is_naive(moment) else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise BadCell(f"{name} {cell[:40]!r} is no moment such as 2026-11-30T08:00:00+02:00")


def _left_reason(cell: str, *, has_left: bool) -> str:
    if cell and (cell not in Subscriber.LeftReason or not has_left):
        raise BadCell(f"left_reason {cell[:40]!r} is not known, or left_at is missing")
    # Only their own /start brings back who stopped: without a word on why, that is what they would want.
    return cell or (Subscriber.LeftReason.STOPPED if has_left else "")
