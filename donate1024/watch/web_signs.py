"""The web process' signs of life, given by the event loop that answers the pages: a blocked one gives none."""

import asyncio
import logging
from contextlib import suppress
from typing import Any, NoReturn

from django.core.handlers.asgi import ASGIHandler

from donate1024.watch.heartbeats import Sign
from donate1024.watch.looking import look

logger = logging.getLogger(__name__)

EVERY = 15.0  # seconds


class SigningApplication:
    """Django's application, and the server's `lifespan`, which Django leaves out: from its start to its end."""

    def __init__(self, django_application: ASGIHandler) -> None:
        self._django_application = django_application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self._django_application(scope, receive, send)
            return
        await receive()
        signing = asyncio.create_task(_give_signs())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        signing.cancel()
        with suppress(asyncio.CancelledError):
            await signing
        await send({"type": "lifespan.shutdown.complete"})


async def _give_signs() -> NoReturn:
    while True:
        try:
            await look(Sign("web"))  # with its deadline; what it finds is others' to tell
        except Exception as error:  # noqa: BLE001 -- the pages must not end with it; their silence will tell
            logger.warning("no sign of life from the web: %s", error)
        await asyncio.sleep(EVERY)
