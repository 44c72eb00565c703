"""What the person at the terminal sees: one line for each event."""

import time

from rich.console import Console
from rich.text import Text


class Terminal:
    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self.began = time.monotonic()

    def event(self, name: str, what: str, style: str = "") -> None:
        self.console.print(
            Text.assemble((f"{self.seconds():6.1f} s  ", "dim"), (f"{name:<10} ", "bold"), (what, style))
        )

    def trouble(self, name: str, what: str) -> None:
        self.event(name, what, style="red")

    def seconds(self) -> float:
        return time.monotonic() - self.began
