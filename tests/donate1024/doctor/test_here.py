"""What the doctor says of this host and its servers."""

import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import redis
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings

from donate1024 import redis_urls
from donate1024.doctor import here
from donate1024.doctor.examining import Mend
from donate1024.stack import environment, ports
from donate1024.stack.embedded import Valkey
from tests.donate1024.doctor.asking import ask, mended
from tests.http_peer import HttpPeer


def test_secrets_that_were_not_made_yet_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY")
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "user:password")

    said = mended(here.read_settings)

    assert said.startswith("SECRET_KEY not set")
    assert "make run" in said


def test_a_disk_that_is_nearly_full_is_named(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.STATE_DIR = Path("/nowhere/yet")
    assert ask(here.disk).state == "ok"

    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=400_000_000))

    assert "0.4 GB left for /nowhere/yet" in mended(here.disk)


# PostgreSQL


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_well_names_its_version() -> None:
    for _ in range(2):  # what it tries to write, it takes back
        finding = ask(here.database)

    assert finding.state == "ok", finding
    assert "PostgreSQL 18" in finding.text


@pytest.mark.django_db
def test_migrations_that_wait_are_counted() -> None:
    MigrationRecorder.Migration.objects.filter(app="watch").delete()

    with pytest.raises(Mend, match=r"^migrations wait \(1\)\. .*manage\.py migrate"):
        here.database()


@pytest.mark.django_db
def test_a_database_that_only_reads_is_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")

    with pytest.raises(Mend, match=r"takes no writes: .*read-only"):
        here.database()


@pytest.fixture
def elsewhere(transactional_db: None) -> Iterator[pytest.MonkeyPatch]:
    """The database's address, for the test to change; it is right again before the tables are emptied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        yield patch


def test_the_embedded_database_before_the_first_start_says_how_to_start(
    elsewhere: pytest.MonkeyPatch, settings: Settings
) -> None:
    elsewhere.setitem(connection.settings_dict, "PORT", ports.free())
    elsewhere.setenv("DATABASE_URL", environment.database_url(settings.STATE_DIR))

    assert "`make run` starts everything" in mended(here.database)


def test_a_database_of_ones_own_that_is_away_is_named_by_its_setting(elsewhere: pytest.MonkeyPatch) -> None:
    elsewhere.setitem(connection.settings_dict, "PORT", ports.free())
    elsewhere.setenv("DATABASE_URL", "postgres://user:a-password@127.0.0.1:1/x")

    said = mended(here.database)

    assert "DATABASE_URL" in said
    assert "refused" in said
    assert "a-password" not in said


def test_a_frozen_database_is_waited_for_no_longer_than_asked(elsewhere: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        elsewhere.setitem(connection.settings_dict, "PORT", silent.getsockname()[1])

        assert ask(here.database, within=1).is_hung


# Clocks


@pytest.mark.django_db(transaction=True)
def test_clocks_that_agree_are_well_and_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(here.database_clock).state == "ok"

    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 60)
    said = mended(here.database_clock)

    assert "60 s behind the database's" in said
    assert "timedatectl" in said


def test_the_local_time_is_named_and_telegrams_clock_asked(settings: Settings) -> None:
    settings.TIME_ZONE = "Asia/Kolkata"
    with HttpPeer() as telegram:
        settings.TELEGRAM_API_URL = telegram.url

        finding = ask(here.local_time)
        telegram.clock_ahead = -100
        said = mended(here.local_time)

    assert finding.state == "ok", finding
    assert "Asia/Kolkata, where it is" in finding.text
    assert "Telegram's agree" in finding.text
    assert "ahead of Telegram's" in said


def test_without_telegram_the_local_time_is_named_all_the_same(settings: Settings) -> None:
    settings.TELEGRAM_API_URL = f"http://127.0.0.1:{ports.free()}"

    finding = ask(here.local_time)

    assert finding.state == "ok", finding
    assert "not known" in finding.text


# Redis


@pytest.fixture
def valkey(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    with Valkey(tmp_path) as valkey, redis.Redis(unix_socket_path=str(valkey.socket)) as client:
        use(environment.redis_url(valkey.state), settings, monkeypatch)
        yield client


def use(url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.REDIS_URL, settings.LIMITER_URL = url, redis_urls.database(url, after=1)
    monkeypatch.setenv("REDIS_URL", url)


def test_a_valkey_that_keeps_everything_is_well(valkey: redis.Redis) -> None:
    finding = ask(here.valkey)

    assert finding.state == "ok", finding
    assert "valkey" in finding.text


def test_a_redis_that_evicts_is_named(valkey: redis.Redis) -> None:
    valkey.config_set("maxmemory-policy", "allkeys-lru")

    assert "noeviction" in mended(here.valkey)


def test_a_redis_that_forgets_at_a_restart_is_named(valkey: redis.Redis) -> None:
    valkey.config_set("appendonly", "no")

    assert "appendonly is off" in mended(here.valkey)


def test_a_redis_with_one_database_is_named(valkey: redis.Redis, settings: Settings) -> None:
    settings.LIMITER_URL = redis_urls.database(settings.REDIS_URL, after=1000)

    assert "REDIS_URL" in mended(here.valkey)


def test_the_embedded_valkey_before_the_first_start_says_how_to_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.STATE_DIR = tmp_path
    use(environment.redis_url(tmp_path), settings, monkeypatch)

    assert "`make run` starts everything" in mended(here.valkey)


def test_a_redis_that_hangs_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use(f"redis://:a-password@127.0.0.1:{silent.getsockname()[1]}/0", settings, monkeypatch)

        said = mended(here.valkey)

    assert "REDIS_URL" in said
    assert "a-password" not in said
