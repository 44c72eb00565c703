"""The one thread of each process that tells people what its handler hears."""

import logging
import os
import threading
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from functools import partial
from time import sleep
from typing import TYPE_CHECKING

from donate1024.alerts import audience, reading, routes, rows, wording
from donate1024.alerts.database import AGAIN_AFTER, Database, DatabaseAway
from donate1024.alerts.folds import Folds
from donate1024.alerts.models import RETRY_AFTER, Alert
from posts import clock

if TYPE_CHECKING:
    from donate1024.alerts.routes import Told

logger = logging.getLogger(__name__)

THREAD = "alerts"  # how the names of its threads begin
NAP = 1.0  # seconds between two looks: a storm costs one in a second
AFTER_THE_UNFORESEEN = 60.0  # seconds until the next look


class Folding:
    """What a process hears goes into the rows, and what is due there is told, once for all processes.

    While the database is away it folds and tells alone, and writes it down later. The thread begins with the first
    alert; a child that is forked begins anew.
    """

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._folds = Folds()
        self._asked = self._done = 0  # how often a look was asked for, and how many of these are done
        self._thread: threading.Thread | None = None
        self._database = Database()
        self._unsettled: tuple[Alert, Told] | None = None  # told last, and not recorded yet

    # From any thread

    def hear(self, record: logging.LogRecord) -> None:
        """Take in one sign of an alert, or its end, in microseconds; of many with the same key the first is read."""
        at, key = _host_now(), reading.key_of(record)
        with self._changed:
            is_known = not reading.is_end(record) and self._folds.repeat(key, at=at)
        if not is_known:
            news = reading.read(record, at=at)  # not under the lock: it may log
            with self._changed:
                self._folds.add(news, at=at)
        self.wake()

    def wake(self) -> None:
        """Have the thread look for what is due."""
        with self._changed:
            self._asked += 1
            self._has_thread()
            self._changed.notify_all()

    def flush(self, *, within: float) -> None:
        """Wait until what was heard so far is told, or was tried; so many seconds at most."""
        with self._changed:
            asked = self._asked
            if asked > self._done and self._has_thread():
                self._changed.wait_for(lambda: self._done >= asked, within)

    def close(self) -> None:
        """End the thread; what comes later begins another."""
        with self._changed:
            self._thread = None
            self._changed.notify_all()

    def _has_thread(self) -> bool:
        """Begin the thread where there is none; False where none can begin now: whoever wakes it next tries again."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                logger.warning("The thread of the alerts does not begin: %s", error)
                return False
            self._thread = thread
        return True

    # The thread

    def _run(self) -> None:
        pause: float | None = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked > self._done or self._is_closed, pause)
                if self._is_closed:
                    return
                asked = self._asked
            try:
                pause = self._look()
            except Exception as error:  # nobody else would go on telling
                logger.warning("A look at the alerts failed: %s", type(error).__name__, exc_info=True)
                pause = AFTER_THE_UNFORESEEN
            with self._changed:
                self._done = asked
                self._changed.notify_all()
            sleep(NAP)

    @property
    def _is_closed(self) -> bool:
        return self._thread is not threading.current_thread()

    def _look(self) -> float | None:
        """Write what was heard, tell what is due; returns how many seconds until the next look, None: until news."""
        while True:
            with self._changed:
                heard, self._folds = self._folds, Folds()
            try:
                look = self._database.call(partial(rows.look, heard, self._unsettled))
            except Exception as error:
                self._take_back(heard)
                if not isinstance(error, DatabaseAway):
                    raise
                self._tell_alone()
                return AGAIN_AFTER
            self._unsettled = None
            if look.due is None:
                return None if look.pause is None else max(look.pause.total_seconds(), 0.0)
            told = routes.tell(wording.message(look.due), look.audience, with_sound=look.with_sound)
            self._unsettled = look.due, told
            if not told.route:  # the rest waits as long as that one
                with suppress(DatabaseAway):
                    self._database.call(partial(rows.settle, look.due, told))
                    self._unsettled = None
                return min(told.retry_after, RETRY_AFTER).total_seconds()

    def _take_back(self, heard: Folds) -> None:
        with self._changed:
            for newer in self._folds:
                heard.add(newer, at=_host_now())
            self._folds = heard

    def _tell_alone(self) -> None:
        """From memory; with a sound, since only the database knows whether a morning depends on somebody."""
        with self._changed:
            due = self._folds.take_due(at=_host_now())
            as_they_stand = [copy(alert) for alert in due]
        for alert, stood in zip(due, as_they_stand, strict=True):
            told = routes.tell(wording.message(stood), audience.remembered(), with_sound=True)
            with self._changed:
                alert.settle(stood, route=told.route, at=_host_now(), retry_after=told.retry_after)
            if not told.route:
                return


def _host_now() -> datetime:
    """The host's clock: the database's may be away."""
    return datetime.now(UTC) + clock.offset()


FOLDING = Folding()


def tell_due() -> None:
    """Have this process tell what is due of any process; returns at once."""
    FOLDING.wake()
