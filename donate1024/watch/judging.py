"""From what a look found to what is wrong: no clock, no database, no words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from operator import attrgetter

from donate1024.watch.rules import RULES, Rule


@dataclass(frozen=True)
class Look:
    """What one look found, and how long its looker has been there to see it."""

    ages: Mapping[str, float]  # seconds since each part's last sign; inf: never one; missing: not to be known now
    awake_for: float  # seconds since the looker began
    # Seconds since when nothing stood between it and the parts: what was silent before was not silent before its eyes.
    # So a start, a machine that was off and a database that is back need no exceptions.
    watched_for: float
    # For how many seconds each part's signs have come without a break: what follows from its silence has time to end.
    unbroken: Mapping[str, float] = field(default_factory=dict)

    def witnessed(self, rule: Rule) -> float:
        """How many seconds of the part's silence count."""
        if rule.is_server:
            return min(self.ages.get(rule.part, inf), self.awake_for)
        causes = (self.unbroken.get(cause, inf) for cause in rule.causes)
        return min(self.ages.get(rule.part, inf), self.watched_for, *causes)


@dataclass(frozen=True)
class Finding:
    rule: Rule
    age: float | None  # None: not to be known now
    witnessed: float  # seconds of its silence that count
    is_consequence: bool

    @property
    def is_red(self) -> bool:
        return self.age is None or self.witnessed > self.rule.limit

    @property
    def is_in_doubt(self) -> bool:
        """Silent for so long that it may be the cause: what follows from it may have been silent for longer."""
        return self.age is None or self.witnessed > self.rule.limit / 2

    @property
    def is_telling(self) -> bool:
        """Whether a person must hear of it; of a consequence they hear by its cause."""
        too_long = max(self.rule.limit, self.rule.told_after)
        return self.age is not None and self.witnessed > too_long and not self.is_consequence

    @property
    def minutes(self) -> int:
        return max(1, round(self.witnessed / 60))

    @property
    def is_well(self) -> bool:
        """Not the opposite of red: a looker that has just begun knows neither."""
        return self.age is not None and self.age <= self.rule.limit


def judge(look: Look) -> list[Finding]:
    """A finding for each rule that is wanted, in their order."""
    findings: list[Finding] = []
    in_doubt: set[str] = set()
    for rule in filter(attrgetter("is_wanted"), RULES):
        is_consequence = not in_doubt.isdisjoint(rule.causes)
        found = Finding(rule, look.ages.get(rule.part), look.witnessed(rule), is_consequence)
        findings.append(found)
        if found.is_in_doubt or found.is_consequence:
            in_doubt.add(rule.part)
    return findings
