"""/healthz and /livez, asked by HTTP."""

import asyncio
import threading
from datetime import timedelta
from socket import socket
from time import monotonic
from typing import Any

import pytest
from django.conf import settings as project
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from donate1024.watch import health
from donate1024.watch.heartbeats import Sign, give
from donate1024.watch.models import Heartbeat
from donate1024.watch.rules import RULES
from tests.donate1024.watch.silent import connections

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def long_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """A web process that has been up for an hour, and was never asked."""
    monkeypatch.setattr(health, "_BEGAN", monotonic() - 3600)
    monkeypatch.setattr(health.HealthView, "latest", health.Latest())


def give_all(**ages: float) -> None:
    for rule in RULES:
        if not rule.is_server:
            give(Sign(rule.part, ago=ages.get(rule.part, 1.0)))
    Heartbeat.objects.update(since=F("since") - timedelta(hours=1))


def parts(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer.json()["parts"]
    return found


def test_every_part_is_there_with_its_age_and_the_silent_ones_are_red(client: Client) -> None:
    give_all(**{"queue:telegram": 131.0})

    answer = client.get("/healthz")

    assert answer.status_code == 503
    assert answer["Content-Type"] == "application/json"
    assert "no-cache" in answer["Cache-Control"]
    assert {rule.part for rule in RULES} <= parts(answer).keys()
    assert {name for name, part in parts(answer).items() if not part["ok"]} == {"queue:telegram"}
    assert 131 <= parts(answer)["queue:telegram"]["age"] < 160


def test_200_says_that_every_part_is_well(client: Client) -> None:
    give_all()

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()["ok"]) == (200, True)


def test_a_web_process_that_has_just_begun_waits_for_the_others(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_BEGAN", monotonic())

    answer = client.get("/healthz")

    assert answer.status_code == 200
    assert parts(answer)["bot"] == {"ok": True, "age": None}


def test_prometheus_may_ask_too(client: Client) -> None:
    give_all(bot=500.0)

    answer = client.get("/healthz?format=openmetrics")

    assert b'django_health_check_status{check="Part",part="bot"} 0' in answer.content


def test_a_frozen_database_is_red_within_seconds(client: Client, frozen_postgres: socket) -> None:
    began = monotonic()

    answer = client.get("/healthz")

    assert monotonic() - began < 15
    assert answer.status_code == 503
    assert parts(answer)["database"] == {"ok": False, "age": None}
    assert parts(answer)["valkey"]["ok"]


async def test_a_frozen_database_is_asked_once_however_many_ask_us(frozen_postgres: socket) -> None:
    threads = threading.active_count()
    latest = health.Latest()
    began = monotonic()

    seen = await asyncio.gather(*(latest.look() for _ in range(50)))

    assert monotonic() - began < 15
    assert all("database" in each.troubles for each in seen)
    assert connections(frozen_postgres) == 1
    assert threading.active_count() <= threads + 4  # those that look names up


def test_nothing_of_the_settings_is_told(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://:hunter2@127.0.0.1:9/0"

    answer = client.get("/healthz")

    assert not parts(answer)["valkey"]["ok"]
    for secret in ("hunter2", "127.0.0.1", project.SECRET_KEY, project.TELEGRAM_BOT_TOKEN):
        assert secret not in answer.content.decode()


def test_red_parts_write_no_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    client.get("/healthz")

    assert [record.name for record in caplog.records if record.levelname != "INFO"] == []


def test_livez_lives_whatever_is_frozen(client: Client, frozen_postgres: None, frozen_valkey: None) -> None:
    began = monotonic()

    answer = client.get("/livez")

    assert (answer.status_code, answer.content) == (200, b"ok")
    assert monotonic() - began < 3
