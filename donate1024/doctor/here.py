"""What this host has and needs: settings, disk, clocks, PostgreSQL, Redis."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import redis
from django.conf import settings
from django.db import DatabaseError, NotSupportedError, OperationalError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from redis.backoff import NoBackoff
from redis.retry import Retry

from donate1024 import host_clock
from donate1024.doctor.examining import Mend, Off
from donate1024.stack import environment, ports
from posts import clock

ANSWER_WITHIN = 5.0  # seconds
LEAST_FREE = 1_000_000_000  # bytes
GENERATED = ("SECRET_KEY", "FLOWER_BASIC_AUTH")
SET_THE_CLOCK = "Set it by a time server: `timedatectl set-ntp true`"


def read_settings() -> str:
    for name in environment.PORTS:
        try:
            ports.named(os.environ, name)
        except ports.PortRefused as refused:
            raise Mend(str(refused)) from None
    if _is_before_the_first_start():
        raise Mend("not started yet, and nothing is wrong: `make run` makes the secrets, PostgreSQL and Valkey")
    if missing := [name for name in GENERATED if not os.environ.get(name)]:
        raise Mend(f"{' and '.join(missing)} not set. `make run` makes what is missing; any other start needs it")
    return "the sandbox: no message leaves this machine" if settings.SANDBOX else "for a real bot"


def disk() -> str:
    free = shutil.disk_usage(_existing(settings.STATE_DIR)).free
    if free < LEAST_FREE:
        raise Mend(f"{free / 1e9:.1f} GB left for {settings.STATE_DIR}. Make room: what cannot be noted is not sent")
    return f"{free / 1e9:.0f} GB left for {settings.STATE_DIR}"


def database() -> str:
    try:
        connection.ensure_connection()
    except NotSupportedError as error:
        raise Mend(f"too old: {_first_line(error)}") from None
    except OperationalError as error:
        if os.environ["DATABASE_URL"] == environment.database_url(settings.STATE_DIR):
            raise _not_running("PostgreSQL") from None
        raise Mend(f"none answers at DATABASE_URL: {_first_line(error)}") from None
    executor = MigrationExecutor(connection)
    if waiting := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Mend(f"migrations wait ({len(waiting)}). `make run` applies them, and so does `manage.py migrate`")
    _try_to_write()
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (version,) = cursor.fetchone()
    return f"PostgreSQL {version}, writable, all migrations applied"


def database_clock() -> str:
    ahead = host_clock.ahead_of_database()
    if abs(ahead) > host_clock.MOST_APART:
        raise Mend(f"this host's clock is {_apart(ahead)} the database's: no worker starts. {SET_THE_CLOCK}")
    return "this host's clock and the database's agree"


def local_time() -> str:
    now = (datetime.now(UTC) + clock.offset()).astimezone(ZoneInfo(settings.TIME_ZONE))
    ahead = host_clock.ahead_of_telegram()
    if ahead is not None and abs(ahead) > host_clock.MOST_APART:
        raise Mend(f"this host's clock is {_apart(ahead)} Telegram's. {SET_THE_CLOCK}")
    confirmed = "Telegram's clock is not known" if ahead is None else "this host's clock and Telegram's agree"
    return f"{settings.TIME_ZONE}, where it is {now:%H:%M on %Y-%m-%d}; {confirmed}"


def valkey() -> str:
    """Both of our databases: a server may have only one."""
    try:
        info, _ = [_info(url) for url in (settings.REDIS_URL, settings.LIMITER_URL)]
    except redis.RedisError as error:
        if os.environ["REDIS_URL"] == environment.redis_url(settings.STATE_DIR):
            raise _not_running("Valkey") from None
        raise Mend(f"none answers at REDIS_URL: {_first_line(error)}") from None
    if (policy := info["maxmemory_policy"]) != "noeviction":
        raise Mend(f"maxmemory-policy is {policy}, so that it may forget what waits. Set it to noeviction")
    if not info["aof_enabled"]:
        raise Mend("appendonly is off, so that a restart forgets what waits. Set it to yes")
    return f"{info.get('server_name', 'redis')} {info.get('valkey_version', info['redis_version'])}, keeps what it gets"


def _info(url: str) -> dict[str, Any]:
    patience = {"socket_timeout": ANSWER_WITHIN, "socket_connect_timeout": ANSWER_WITHIN}
    with redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **patience) as client:
        info: dict[str, Any] = client.info()
        return info


def _try_to_write() -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE doctor ON COMMIT DROP AS SELECT 1")
    except DatabaseError as error:
        raise Mend(f"it takes no writes: {_first_line(error)}") from None


def _is_before_the_first_start() -> bool:
    own = {"DATABASE_URL": environment.database_url(settings.STATE_DIR), **dict.fromkeys(GENERATED)}
    return all(os.environ.get(name) == value for name, value in own.items())


def _not_running(server: str) -> Exception:
    if _is_before_the_first_start():
        return Off(f"{server} is not there yet: `make run` makes it")
    return Mend(f"{server} is not running. `make run` starts everything")


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())


def _apart(ahead: float) -> str:
    return f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
