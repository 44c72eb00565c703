"""Faults that a test or a demo asks for: the nth call of a kind fails in a given way."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from donate1024.sandbox.refusals import Refused, too_many_requests

_NAMES = {"method", "chat_id", "nth", "times", "fault"}
_KINDS = {"status", "hang", "delay"}
_OF_STATUS = {"description", "retry_after", "parameters", "body"}
_CUTS = {"drop", "drop_after", "reset", "reset_after"}


@dataclass(slots=True)
class Fault:
    """What happens to the `nth` to `nth + times - 1`th call that fits (times 0: to all from the nth on).

    `what` is "drop" (closed without accepting), "drop_after" (accepted, closed without an answer), "reset" and
    "reset_after" (the same by a TCP reset), {"hang": seconds} (not accepted, answered 504 after), {"delay": seconds}
    (then as usual), {"status": n, "description", "retry_after" or "parameters"} (refused) or {"status": n, "body":
    text} (that text, nothing accepted). Faults are forgotten at a restart, unlike all that was accepted.
    """

    what: Any
    method: str | None = None
    chat_id: int | None = None
    nth: int = 1
    times: int = 1
    seen: int = 0

    def strikes(self, method: str, chat_id: str) -> bool:
        """Count this call if it fits; whether it is one of those that fail."""
        if self.method not in (None, method) or (self.chat_id is not None and str(self.chat_id) != chat_id):
            return False
        self.seen += 1
        return self.seen >= self.nth and (self.times == 0 or self.seen < self.nth + self.times)


def parsed(fault: Any) -> Fault:
    """Raises ValueError on anything that would silently never strike."""
    if not isinstance(fault, dict) or not set(fault) <= _NAMES or "fault" not in fault:
        raise ValueError(f"a fault has {sorted(_NAMES)}, and at least fault: {fault!r}")
    what = fault["fault"]
    if isinstance(what, dict):
        known = len(_KINDS & set(what)) == 1 and set(what) <= _KINDS | (_OF_STATUS if "status" in what else set())
    else:
        known = what in _CUTS
    if not known:
        raise ValueError(f"no such fault: {what!r}")
    return Fault(what, fault.get("method"), fault.get("chat_id"), fault.get("nth", 1), fault.get("times", 1))


def striking(faults: list[Fault], method: str, chat_id: str) -> Any:
    """What happens to this call: the first fault that strikes; every one that fits counts it."""
    struck = [fault for fault in faults if fault.strikes(method, chat_id)]
    return struck[0].what if struck else None


def refusal(what: Mapping[str, Any]) -> Refused:
    status = int(what["status"])
    if "retry_after" in what:
        return too_many_requests(int(what["retry_after"]))
    return Refused(status, what.get("description") or HTTPStatus(status).phrase, what.get("parameters"))
