"""One check, asked as the doctor asks it."""

from collections.abc import Callable

from donate1024.doctor.examining import Check, Finding, examine


def ask(look: Callable[[], str], *, within: float = 30) -> Finding:
    (finding,) = examine([(Check("it", look, "Look there"),)], within=within)
    return finding


def mended(look: Callable[[], str]) -> str:
    """What it says is to be mended."""
    finding = ask(look)
    assert finding.state == "mend", finding
    return finding.text
