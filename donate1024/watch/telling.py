"""Saying once that a fault began, and once that it ended."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from donate1024.watch.judging import Finding

logger = logging.getLogger(__name__)


class Telling:
    """What one looker has told. At first it knows nothing and tells both: an earlier process may have told a fault."""

    def __init__(self, told: Mapping[str, bool] | None = None) -> None:
        self.told = dict(told or {})  # of a part: whether the last thing told was a fault

    def hear(self, findings: Iterable[Finding]) -> None:
        """Tell what has changed. What is neither silent for long enough nor well stays as it was told."""
        for finding in findings:
            part = finding.rule.part
            if finding.is_telling and self.told.get(part) is not True:
                logger.error(finding.rule.text, finding.minutes, extra={"opens": part, **_details(finding)})
                self.told[part] = True
            elif finding.is_well and self.told.get(part) is not False:
                logger.info("%s: all is well", part, extra={"closes": part, "over": finding.rule.over})
                self.told[part] = False


def _details(finding: Finding) -> dict[str, Any]:
    """When it began, and what an operator is told."""
    seconds, log = finding.witnessed, finding.rule.log
    return {"silent_for": seconds, "technical": f"{finding.rule.part}: no sign for {seconds:.0f} s · log “{log}”"}
