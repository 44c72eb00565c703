"""A PostgreSQL that does not take one kind of change."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW WHEN ({change}) EXECUTE FUNCTION refuse()
"""
DEADLOCK = "40P01"


@contextmanager
def refusing(table: str, change: str, *, code: str = "P0001") -> Iterator[None]:
    """Meanwhile an INSERT or UPDATE of the table fails where the SQL condition `change` is true of the row NEW."""
    with connection.cursor() as cursor:
        cursor.execute(_REFUSE.format(table=table, change=change, code=code))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")
