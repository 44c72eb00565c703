"""Subscribers to and from a CSV file."""

import csv
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from pathlib import Path

from django.db import connection, transaction

from subscribers import csv_rows
from subscribers.csv_rows import COLUMNS, BadLine, Row
from subscribers.models import Subscriber

AT_ONCE = 10_000  # rows of a statement
_INSERT = """
    INSERT INTO subscribers_subscriber (chat_id, username, first_name, language, joined_at, left_at, left_reason)
    SELECT chat_id, username, first_name, language, coalesce(joined_at, %s), left_at, left_reason
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[], %s::text[])
        AS given (chat_id, username, first_name, language, joined_at, left_at, left_reason)
    ON CONFLICT (chat_id) DO NOTHING
"""


@dataclass(slots=True)
class Imported:
    added: int = 0
    known: int = 0
    repeated: int = 0  # in the file
    bad: list[BadLine] = field(default_factory=list)


def import_subscribers(content: bytes, *, at: datetime) -> Imported:
    """Add whoever is new, from a file's bytes: every good line or, when something breaks, none.

    It sends nothing, and whoever is known stays as they are: who left stays off. `at` is when they joined, where the
    file does not say. Their messages begin the next morning. Of a chat that the file repeats, the first line counts,
    unless a later one says that it left.

    Raises:
        csv_rows.Unreadable: the file is no list of subscribers.
    """
    imported = Imported()
    rows: dict[int, Row] = {}
    for row in csv_rows.read(content):
        if isinstance(row, BadLine):
            imported.bad.append(row)
        elif row.chat_id not in rows:
            rows[row.chat_id] = row
        else:
            imported.repeated += 1
            if row.left_at and not rows[row.chat_id].left_at:
                rows[row.chat_id] = row
    imported.added = _add([*rows.values()], at=at)
    imported.known = len(rows) - imported.added
    return imported


@transaction.atomic
def _add(rows: list[Row], *, at: datetime) -> int:
    added = 0
    with connection.cursor() as cursor:
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            cursor.execute(_INSERT, [at, *([*map(attrgetter(name), some)] for name in COLUMNS)])
            added += cursor.rowcount
    return added


def export_subscribers(file: Path) -> int:
    """Write everybody, those who left too, and return how many. The file appears whole, readable by its owner only.

    Imported elsewhere it gives the same subscribers again.
    """
    unfinished = file.with_name(f"{file.name}.part")
    people = Subscriber.objects.order_by("pk").only(*COLUMNS)
    count = 0
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    with unfinished.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        for person in people.iterator(chunk_size=AT_ONCE):
            writer.writerow(_cells(person))
            count += 1
    unfinished.replace(file)
    return count


def _cells(person: Subscriber) -> list[str | int]:
    names = [csv_rows.guarded(name) for name in (person.username, person.first_name, person.language)]
    moments = [moment.isoformat() if moment else "" for moment in (person.joined_at, person.left_at)]
    return [person.chat_id, *names, *moments, person.left_reason]
