"""A real SMTP server, and what it has taken."""

import socket
from email.parser import BytesParser
from email.policy import default
from types import TracebackType
from typing import Any, Self

from aiosmtpd.controller import Controller


class MailServer:
    """A context manager; it listens on a free port of this machine."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802 -- its name
        self.mails.append(BytesParser(policy=default).parsebytes(envelope.content))
        return "250 OK"

    def __enter__(self) -> Self:
        self._controller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._controller.stop()
