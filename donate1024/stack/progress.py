"""The demo's live view of the broadcast, read from the books."""

import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import psycopg
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from donate1024.stack.supervisor import Supervisor

OVER = frozenset({"finished", "paused", "cancelled", "expired"})
# The demo's database has one broadcast. Read directly: a management command would take a second for each look.
_COUNTS = """
SELECT broadcast.status, delivery.status, count(*)
FROM delivery_broadcast AS broadcast JOIN delivery_delivery AS delivery ON delivery.broadcast_id = broadcast.id
GROUP BY broadcast.status, delivery.status
"""


@dataclass(frozen=True)
class Count:
    """How the broadcast stands: its own state, and how many rows are in each."""

    broadcast: str
    rows: Counter[str]

    @property
    def settled(self) -> int:
        return self.rows.total() - self.rows["pending"] - self.rows["sending"]

    def __str__(self) -> str:
        return ", ".join(f"{count} {status}" for status, count in self.rows.most_common())


class Books:
    """A connection that counts, for as long as the context lasts."""

    def __init__(self, database_url: str) -> None:
        self.database_url = database_url

    def __enter__(self) -> Self:
        self.connection = psycopg.connect(self.database_url, autocommit=True, connect_timeout=5)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.connection.close()

    def count(self) -> Count:
        found = self.connection.execute(_COUNTS).fetchall()
        return Count(found[0][0] if found else "", Counter({status: count for _, status, count in found}))


def follow(supervisor: Supervisor, books: Books, *, within: float) -> Count:
    """Show the broadcast until it is over, or the time is, and bring back what dies meanwhile."""
    columns = (
        TextColumn("          morning   "),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[counts]}"),
    )
    end = time.monotonic() + within
    with Progress(*columns, TimeElapsedColumn(), console=supervisor.terminal.console) as progress:
        task = progress.add_task("", counts="", total=None)
        while True:
            count = books.count()
            progress.update(task, total=count.rows.total() or None, completed=count.settled, counts=str(count))
            if count.broadcast in OVER or time.monotonic() > end:
                return count
            supervisor.look()
            time.sleep(0.1)
