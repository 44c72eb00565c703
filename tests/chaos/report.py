"""What a person reads of a run: a line a day, everything about a broken promise, the totals."""

from collections import Counter
from collections.abc import Iterator
from datetime import time

from rich.console import Console

from tests.chaos.day import Day
from tests.chaos.journal import Json

SHOWN = 5  # chats of each broken promise


def count(day: Day) -> Counter[str]:
    """The day's part of the totals."""
    acts, case = [*day.plan.morning, *day.plan.acts], day.case
    found = Counter(days=1, acts=len(acts), left_undone=len(day.scene.troubles), broken=len(day.broken))
    if case:
        found += Counter(recipients=len(case.rows), served=len(case.posts), unknown=len(case.unknown))
    return found


def print_day(console: Console, day: Day, *, hour: time, seconds: float) -> None:
    found, books = count(day), day.case.books if day.case else None
    ended = f"{books['status']} {books['reason']}".strip() if books else "no broadcast"
    parts = " + ".join(f"{part:.0f}" for part in day.seconds)
    line = f"day {day.plan.number:3}  {day.facts.date} {hour:%H:%M}  {found['acts']:2} acts"
    line += f"  {found['recipients']:3} recipients  {found['served']:3} served"
    line += f"  {found['unknown']:2} unknown (explained: {day.facts.unknown_most})  {seconds:3.0f} s = {parts}  {ended}"
    console.print(line, style="red" if day.broken else "green", highlight=False, markup=False)
    if day.broken:
        for text in _evidence(day):
            console.print(text, highlight=False, markup=False)


def print_totals(console: Console, totals: Counter[str], *, seconds: float) -> None:
    told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in totals.items())
    console.print(f"{told}; {seconds / 60:.0f} minutes", style="red" if totals["broken"] else "green", highlight=False)


def _evidence(day: Day) -> Iterator[str]:
    """The plan, what the ledger and the rows say of the chats in question, and where the logs lie."""
    yield f"\n{day.plan}"
    for broken in day.broken:
        yield f"\nBROKEN: {broken.sentence}"
        for chat in broken.chats[:SHOWN]:
            yield f"  chat {chat}"
            yield from (f"    ledger: {str(event)[:300]}" for event in day.events if _is_about(event, chat))
            yield from (f"    {row}" for row in (day.case.rows if day.case else ()) if row.chat_id == chat)
    yield f"\nleft undone: {day.scene.troubles}\nlogs, ledger and database: {day.there.state}"


def _is_about(event: Json, chat: int) -> bool:
    return chat in {event.get("chat_id"), *(event.get(part, {}).get("chat_id") for part in ("chat", "message"))}
