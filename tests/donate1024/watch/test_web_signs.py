"""The web process' signs of life, from the server's start of the application to its end."""

import asyncio
from contextlib import closing
from datetime import datetime
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from donate1024.asgi import application
from donate1024.watch import web_signs
from donate1024.watch.models import Heartbeat
from tests.donate1024.watch.silent import frozen_database

pytestmark = pytest.mark.django_db(transaction=True)


class Server:
    """What a server says to the application, and hears from it, about its lifespan."""

    def __init__(self) -> None:
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._serving = asyncio.create_task(application({"type": "lifespan"}, self._said.get, self._heard.put))

    async def tell(self, what: str) -> None:
        await self._said.put({"type": f"lifespan.{what}"})
        assert await self._heard.get() == {"type": f"lifespan.{what}.complete"}

    async def stop(self) -> None:
        await self.tell("shutdown")
        await self._serving


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_signs, "EVERY", 0.05)


def sign() -> datetime | None:
    with closing(connection):  # of a thread that nobody ends
        return Heartbeat.objects.filter(name="web").values_list("at", flat=True).first()


async def next_sign(*, after: datetime | None = None) -> datetime:
    for _ in range(400):
        at = await sync_to_async(sign)()
        if at and at != after:
            return at
        await asyncio.sleep(0.05)
    raise AssertionError("no sign came")


async def test_signs_come_from_the_servers_start_to_its_end() -> None:
    server = Server()
    await server.tell("startup")
    first = await next_sign()

    await next_sign(after=first)
    await server.stop()
    last = await next_sign()
    await asyncio.sleep(0.5)

    assert await next_sign() == last


async def test_signs_go_on_after_a_database_that_froze() -> None:
    server = Server()
    await server.tell("startup")
    await next_sign()

    with frozen_database():
        await asyncio.sleep(0.5)
    before = await next_sign()
    await next_sign(after=before)

    await server.stop()
