"""One thread with one database connection, so that no statement stops the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from django.db import connection

P = ParamSpec("P")
R = TypeVar("R")


class DatabaseThread:
    async def __aenter__(self) -> Self:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.run(close_connection)
        self._executor.shutdown()

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function in the thread; calls run one after the other."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(function, *args, **kwargs))


def close_connection() -> None:
    """Close the calling thread's connection; Django opens a new one at the next statement."""
    connection.close()
