"""The books as people read them in a terminal."""

from rich.bar import Bar
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from delivery.books import Books

MEANING = {
    "pending": "waiting for their turn",
    "sending": "on their way",
    "sent": "got it",
    "skipped": "not written to",
    "failed": "refused for good",
    "unknown": "perhaps got it; never sent again by itself",
}
COLOURS = {"sent": "green", "pending": "blue", "sending": "cyan", "skipped": "yellow", "failed": "red"}


def draw(books: Books, *, on: Console) -> None:
    """Print the books as a table; the last line is their sum."""
    on.print(f"Broadcast of {books['date']}: [bold]{books['status']}[/bold]{_because(books)}")
    table = Table(box=None, pad_edge=False)
    table.add_column("recipients", justify="right")
    table.add_column("state")
    table.add_column("", width=30)
    table.add_column("meaning")
    for state, count in books["counts"].items():
        bar = Bar(books["recipients"] or 1, 0, count, width=30, color=COLOURS.get(state, "magenta"))
        table.add_row(str(count), state, bar, MEANING[state] + _reasons(books, state))
    table.add_row(f"[bold]{books['recipients']}[/bold]", "[bold]in all[/bold]")
    on.print(table)


def _because(books: Books) -> str:
    hold = f", on hold until {books['hold_until']}" if books["hold_until"] else ""
    return hold + (f" because: {escape(books['reason'])}" if books["reason"] else "")


def _reasons(books: Books, state: str) -> str:
    if state != "skipped" or not books["skipped"]:
        return ""
    return ": " + ", ".join(f"{count} {reason}" for reason, count in books["skipped"].items())
