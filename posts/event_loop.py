"""Asking over the network from code that is not asynchronous."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class _LeftBehind(ThreadPoolExecutor):
    """Threads that nobody waits for: a name server that does not answer holds a lookup for as long as it likes."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 -- the library's
        super().shutdown(wait=False, cancel_futures=True)


def run_without_waiting(main: Coroutine[Any, Any, T]) -> T:
    """As asyncio.run, which would wait for name lookups that the deadlines inside have given up."""
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(_LeftBehind())
        return runner.run(main)
