"""Many looks side by side, one of which may hang."""

import threading
import time
from typing import NoReturn

from pytest_django import Settings

from donate1024.doctor.examining import Check, Finding, Mend, Off, examine


def well() -> str:
    return "as it should be"


def broken() -> NoReturn:
    raise Mend("it is broken. Mend it")


def off() -> NoReturn:
    raise Off("nobody wants it")


def unforeseen() -> NoReturn:
    raise ZeroDivisionError("division by zero")


def never() -> str:
    threading.Event().wait(60)
    return "at last"


def states(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.name, finding.state) for finding in findings]


def test_each_check_is_one_finding_in_their_order() -> None:
    findings = examine([(Check("a", well, ""),), (Check("b", broken, ""),), (Check("c", off, ""),)], within=30)

    assert findings == [
        Finding("a", "ok", "as it should be"),
        Finding("b", "mend", "it is broken. Mend it"),
        Finding("c", "off", "nobody wants it"),
    ]


def test_what_nobody_foresaw_is_a_fault_of_that_check_alone() -> None:
    findings = examine(
        [(Check("a", unforeseen, "Look there"), Check("b", well, "")), (Check("c", well, ""),)], within=30
    )

    assert findings[0] == Finding("a", "mend", "ZeroDivisionError: division by zero. Look there")
    assert states(findings)[2] == ("c", "ok")


def test_what_needs_a_broken_part_is_not_known_and_no_fault() -> None:
    findings = examine([(Check("a", broken, ""), Check("b", well, ""), Check("c", broken, ""))], within=30)

    assert states(findings) == [("a", "mend"), ("b", "off"), ("c", "off")]
    assert findings[1].text == "not known before a is well"


def test_a_fault_of_another_than_the_first_hides_nothing() -> None:
    findings = examine([(Check("a", well, ""), Check("b", broken, ""), Check("c", well, ""))], within=30)

    assert states(findings) == [("a", "ok"), ("b", "mend"), ("c", "ok")]


def test_what_hangs_is_named_and_waited_for_no_longer_than_all() -> None:
    chains = [(Check("a", never, "Look there"), Check("b", well, "")) for _ in range(5)] + [(Check("c", well, ""),)]

    began = time.monotonic()
    findings = examine(chains, within=1)

    assert time.monotonic() - began < 4
    assert findings[0] == Finding("a", "mend", "no answer within 1 s. Look there", is_hung=True)
    assert states(findings) == [("a", "mend"), ("b", "off")] * 5 + [("c", "ok")]


def test_no_finding_tells_a_secret(settings: Settings) -> None:
    settings.GEMINI_API_KEY = "AIzaSyVerySecret"

    def telling() -> NoReturn:
        raise ValueError(f"key={settings.GEMINI_API_KEY}")

    (finding,) = examine([(Check("a", telling, ""),)], within=30)

    assert "VerySecret" not in finding.text
    assert "[GEMINI_API_KEY]" in finding.text
