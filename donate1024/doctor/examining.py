"""Looks at many parts side by side, and waits for none of them longer than for all."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Literal

from django.db import connections

from posts.redaction import redact


class Mend(Exception):
    """Something is wrong; the text says what, and what to do."""


class Off(Exception):
    """It is not set up, or cannot be known; the text says what that means."""


@dataclass(frozen=True)
class Check:
    """`look` returns what it saw, or raises `Mend` or `Off`; `hint` is what to do where it fails or hangs otherwise."""

    name: str
    look: Callable[[], str]
    hint: str


# One after another in one thread; the first is what the others need.
Chain = tuple[Check, ...]


@dataclass(frozen=True)
class Finding:
    name: str
    state: Literal["ok", "mend", "off"]
    text: str
    is_hung: bool = False  # its thread still waits


def examine(chains: Iterable[Chain], *, within: float) -> list[Finding]:
    """One finding for each check, in their order, after `within` seconds at most."""
    end = monotonic() + within
    rows = [_Row(chain) for chain in chains]
    for row in rows:
        row.thread.start()
    for row in rows:
        row.thread.join(max(0.0, end - monotonic()))
    return [finding for row in rows for finding in row.findings(within)]


class _Row:
    """A chain at work."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._found: list[Finding] = []
        self.thread = Thread(target=self._look, daemon=True)

    def findings(self, within: float) -> list[Finding]:
        found = [*self._found]
        if waiting := self._chain[len(found) :]:
            hung, *others = waiting
            found.append(Finding(hung.name, "mend", f"no answer within {within:.0f} s. {hung.hint}", is_hung=True))
            found += [_unknown(check, because_of=hung) for check in others]
        return found

    def _look(self) -> None:
        head, *others = self._chain
        try:
            self._found.append(first := _finding(head))
            for check in others:
                self._found.append(_finding(check) if first.state == "ok" else _unknown(check, because_of=head))
        finally:
            connections.close_all()


def _finding(check: Check) -> Finding:
    try:
        return Finding(check.name, "ok", redact(check.look()))
    except Mend as wrong:
        return Finding(check.name, "mend", redact(str(wrong)))
    except Off as off:
        return Finding(check.name, "off", redact(str(off)))
    except Exception as error:  # noqa: BLE001 -- the outermost edge: one broken check must not hide the others
        said = ": ".join(filter(None, (type(error).__name__, str(error))))
        return Finding(check.name, "mend", redact(f"{said}. {check.hint}"))


def _unknown(check: Check, *, because_of: Check) -> Finding:
    return Finding(check.name, "off", f"not known before {because_of.name} is well")
