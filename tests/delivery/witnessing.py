"""The witness, as a slice asks and tells it."""

import asyncio
import logging
from typing import Any

import pytest

from delivery import witness
from delivery.database_thread import DatabaseThread
from delivery.models import SendingLock
from subscribers.telegram.client import open_bot


def in_a_slice(*acts: Any) -> list[Any]:
    """What each act, called as a slice calls it, returned or raised; all at once."""

    async def one(act: Any) -> Any:
        async with DatabaseThread() as database, open_bot(connections=1) as bot:
            return await act(bot, database)

    async def at_once() -> list[Any]:
        return await asyncio.gather(*map(one, acts), return_exceptions=True)

    return asyncio.run(at_once())


def renew() -> Any:
    return in_a_slice(witness.renew)[0]


def may_send() -> Any:
    return in_a_slice(witness.may_send)[0]


def lock() -> SendingLock:
    return SendingLock.load()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
