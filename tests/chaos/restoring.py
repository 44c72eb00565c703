"""A backup brought back in the middle of a run: a copy of the database put in its place."""

import psycopg

from donate1024.stack import environment
from tests.chaos.installation import Installation, wait_until

NAME, BACKUP, LOST = environment.DATABASE, "backup", "lost"
CLOSE = f"ALTER DATABASE {NAME} ALLOW_CONNECTIONS false"
OPEN = f"ALTER DATABASE {NAME} ALLOW_CONNECTIONS true"
THROW_OUT = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{NAME}'"  # noqa: S608


def back_up(there: Installation) -> None:
    """What pg_dump keeps. PostgreSQL copies its files instead, and for that everybody is thrown out for a moment."""
    _execute(there, CLOSE, THROW_OUT, f"CREATE DATABASE {BACKUP} TEMPLATE {NAME}", OPEN)


def restore(there: Installation) -> None:
    """What is in the backup is all that the database knows from here on."""
    rename = f"ALTER DATABASE {NAME} RENAME TO {LOST}", f"ALTER DATABASE {BACKUP} RENAME TO {NAME}"
    _execute(there, CLOSE, THROW_OUT, *rename, OPEN, f"DROP DATABASE {LOST}")


def wait_for_lock(there: Installation) -> None:
    """The restored database must notice what it is, by itself."""

    def is_locked() -> bool:
        there.hurry_beat()
        return bool(there.rows("SELECT 1 FROM delivery_sendinglock WHERE locked_at IS NOT NULL"))

    wait_until(is_locked, what="the restored database to lock itself", seconds=60, pause=0.2)


def _execute(there: Installation, *statements: str) -> None:
    url = environment.database_url(there.state).removesuffix(NAME) + "postgres"
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())
