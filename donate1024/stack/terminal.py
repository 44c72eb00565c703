"""What the person at the terminal sees: one line for each event."""

import time
from contextlib import suppress
from textwrap import shorten

from rich.console import Console, RenderableType
from rich.text import Text


class Terminal:
    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self.began = time.monotonic()

    def event(self, name: str, what: str, style: str = "") -> None:
        self.show(Text.assemble((f"{self.seconds():6.1f} s  ", "dim"), (f"{name:<10} ", "bold"), (what, style)))

    def show(self, what: RenderableType) -> None:
        """Where it can be shown: an output that goes into a file on a full disk must not end the supervisor."""
        with suppress(OSError):
            self.console.print(what)

    def trouble(self, name: str, what: str) -> None:
        self.event(name, what, style="red")

    def log_line(self, line: str) -> None:
        """Under a trouble, what a log says of it, cut where the terminal ends: the whole of it stands there."""
        room = self.console.width - len(f"{'':10}{'':<10} ")
        self.trouble("", shorten(line, room, placeholder="…"))

    def seconds(self) -> float:
        return time.monotonic() - self.began
