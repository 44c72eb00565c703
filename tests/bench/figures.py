"""A figure beside its target."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    row: str
    what: str
    value: float
    target: float
    unit: str = ""
    is_least: bool = False  # the target is the least, and not the most, that the value may be

    @property
    def is_met(self) -> bool:
        return self.value >= self.target if self.is_least else self.value <= self.target

    @property
    def wanted(self) -> str:
        return f"{'>=' if self.is_least else '<='} {self.target:g} {self.unit}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"is_met": self.is_met}
