"""Statements that the ORM has no words for, each given the clock's offset."""

from typing import Any

from django.db import connection

from posts import clock


def rows(statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run the statement and return what it returns. `%(offset)s`, added to now(), makes it the one clock's moment."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters | {"offset": clock.offset()})
        returned: list[tuple[Any, ...]] = cursor.fetchall()
    return returned


def change(statement: str, **parameters: Any) -> int:
    """Run the statement and return how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters | {"offset": clock.offset()})
        changed: int = cursor.rowcount
    return changed
