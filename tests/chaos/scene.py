"""One day under way: what is there, what was done to it, and what may be unknown because of that."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer

from tests.chaos.drawing import DayPlan
from tests.chaos.family import NotThere, tell
from tests.chaos.installation import Installation, Program
from tests.chaos.promises import Facts

MOST_IN_FLIGHT = 10  # over all slices, at 25 a second and the slowest answers: delivery/window.py
SENDING = "SELECT count(*) FROM delivery_delivery WHERE status = 'sending'"
# While a sender is frozen and the clock jumped: it may still answer, unless it is killed before.
OUTDATED = f"{SENDING} OR (status = 'unknown' AND reason = 'no answer was recorded' AND settled_at >= to_timestamp(%s))"


@dataclass
class Scene:
    """The day's installation and plan, and the marks that its acts leave for the judge."""

    there: Installation
    plan: DayPlan
    facts: Facts
    thaws: list[Timer] = field(default_factory=list)
    extras: list[Program] = field(default_factory=list)  # processes that are not the supervisor's
    troubles: list[str] = field(default_factory=list)  # what could not be done, and why

    def sending(self) -> list[int]:
        """How many rows are marked as being sent; nothing where the database does not answer."""
        is_frozen = any(thaw.is_alive() for thaw in self.thaws)
        found = self.there.rows(OUTDATED, self.facts.send_at) if is_frozen else self.there.rows(SENDING)
        return [count for (count,) in found or []]

    @contextmanager
    def losing_what_is_in_flight(self) -> Iterator[None]:
        """Around a kill: the calls in flight may become unknown. A claim on its way to the database counts too."""
        seen = self.sending()
        yield
        seen += self.sending()
        time.sleep(0.1)
        seen += self.sending()
        self.facts.unknown_most += max(seen, default=MOST_IN_FLIGHT)

    def freeze(self, pids: list[int], *, seconds: float, jump: float) -> None:
        """Stop them for a while; by a thread, since whoever waits for an answer of theirs waits in this one."""
        tell(pids, signal.SIGSTOP)
        thaw = Timer(seconds, tell, (pids, signal.SIGCONT))
        thaw.start()
        self.thaws.append(thaw)
        self.tolerate(seconds)
        self.there.clock.move(jump)

    def wait_for_thaw(self) -> None:
        """Return when everything that was frozen goes on."""
        for thaw in self.thaws:
            thaw.join()
        self.thaws.clear()

    def tolerate(self, seconds: float) -> None:
        """Calls may take so much longer from now on."""
        self.facts.patience += seconds

    def act_by_hand(self) -> None:
        """A person started or resumed it: it may run until midnight."""
        self.facts.is_by_hand = True
        self.facts.ends = self.facts.midnight

    def end_extras(self) -> None:
        for program in self.extras:
            program.end()
            if "Planned for" in program.said:
                self.act_by_hand()
        self.extras.clear()

    def pids(self, role: str) -> list[int]:
        """The part's processes; none where it is dead at this moment."""
        try:
            return self.there.family.whole(role)
        except NotThere:
            self.troubles.append(f"{role} was dead already")
            return []
