"""What this process has heard and not written into rows yet."""

from collections.abc import Iterator
from datetime import datetime

from donate1024.alerts.models import Alert


class Folds:
    """The same folding as in the rows; whoever uses it from several threads holds a lock."""

    def __init__(self) -> None:
        self._open: dict[str, Alert] = {}
        self._over: list[Alert] = []

    def __iter__(self) -> Iterator[Alert]:
        """In the order in which rows must take them: of one key, what is over came before what is open."""
        yield from self._over
        yield from self._open.values()

    def repeat(self, key: str, *, at: datetime) -> bool:
        """Count an open one once more; False where there is none."""
        known = self._open.get(key)
        if known:
            known.repeat(at=at)
        return known is not None

    def add(self, news: Alert, *, at: datetime) -> None:
        """Take in an alert, or the end of one."""
        alert = self._open.get(news.key)
        if alert:
            alert.fold_in(news, at=at)
        else:
            alert = self._open[news.key] = news
            alert.plan(at=at)
        self._sort(alert)

    def take_due(self, *, at: datetime) -> list[Alert]:
        """Those of which something is to be told now, each kept from the next look for a while."""
        due = [alert for alert in self if alert.is_due(at=at)]
        told = [alert for alert in due if alert.claim(at=at)]
        for alert in due:
            self._sort(alert)
        return told

    def _sort(self, alert: Alert) -> None:
        if alert.recovered_at and self._open.get(alert.key) is alert:
            self._over.append(self._open.pop(alert.key))
