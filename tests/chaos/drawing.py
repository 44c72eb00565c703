"""What a seed draws: the days, and everything that goes wrong in each. The same seed draws the same."""

from dataclasses import dataclass, field
from datetime import time
from random import Random
from typing import Literal

FIRST_PERSON, FIRST_GROUP, FIRST_SUPERGROUP, FIRST_NEWCOMER = 1001, -4001, -1002000000001, 500_001
GROUPS = 6
PACE = 24.5  # messages a second, so that faults begin while the run goes on

Kind = Literal[
    "usual",
    "beat asleep, back within the window",
    "beat asleep, back after it",
    "quiet hour in mid-run",
    "midnight in mid-run",
    "restored in mid-run",
    "the wrong bot",
    "day off",
    "switched off",
]
KINDS: dict[Kind, int] = {
    "usual": 70,
    "beat asleep, back within the window": 6,
    "beat asleep, back after it": 5,
    "quiet hour in mid-run": 7,
    "midnight in mid-run": 5,
    "restored in mid-run": 5,
    "the wrong bot": 4,
    "day off": 4,
    "switched off": 3,
}
HOURS = (time(8), time(8), time(8), time(6, 30), time(12, 15), time(3, 30), time(19, 50))

# How often each is drawn. What it does stands in the module of the same name.
MACHINE = {
    "kill worker child": 8,
    "kill telegram": 8,
    "kill default": 3,
    "kill beat": 3,
    "kill bot": 5,
    "kill postgres": 6,
    "kill valkey": 5,
    "kill sandbox": 6,
    "terminate telegram": 5,
    "terminate beat": 2,
    "terminate bot": 3,
    "freeze worker child": 4,
    "freeze telegram": 5,
    "freeze beat": 2,
    "freeze bot": 3,
    "freeze postgres": 4,
    "freeze valkey": 3,
    "freeze sandbox": 4,
    "kill one backend": 5,
    "terminate all backends": 5,
    "empty valkey": 5,
    "kill everything": 2,
}
TELEGRAM = {
    "flood for all": 8,
    "flood for a group": 4,
    "drop": 6,
    "accept and drop": 8,
    "hang": 4,
    "delay": 6,
    "bad gateway": 6,
    "refuse the text": 4,
    "refuse a chat": 4,
    "refuse the token": 4,
    "refuse the file": 4,
}
EVERYBODY_GONE = "everybody is gone"
PEOPLE = {
    "stop": 8,
    "block": 6,
    "unblock": 6,
    "start": 5,
    "stop and start": 5,
    "block and unblock": 3,
    "newcomer": 8,
    "newcomer stops": 3,
    "deactivate": 3,
    "vanish": 2,
    "come back": 12,
    "migrate": 2,
}
CURATOR = {
    "pause": 6,
    "edit the fundraiser": 6,
    "start twice": 6,
    "double the tasks": 6,
    "second beat": 3,
    "second bot": 2,
    "cancel": 2,
}


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that happens, so many seconds after the day's plan was made (or, in the morning, before it)."""

    at: float
    name: str
    chat: int = 0
    times: int = 1
    seconds: float = 0.0
    jump: float = 0.0  # by how much the clock moves while something is frozen

    def __str__(self) -> str:
        parts = [f"{self.at:5.2f} s  {self.name}"]
        parts += [f"chat {self.chat}"] if self.chat else []
        parts += [f"x {self.times}"] if self.times != 1 else []
        parts += [f"for {self.seconds:.1f} s"] if self.seconds else []
        parts += [f"the clock moves {self.jump:.0f} s"] if self.jump else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class DayPlan:
    """All that goes wrong on one day."""

    seed: int
    number: int
    kind: Kind
    days_ahead: int  # beyond the next morning: days on which the machine was off
    to_clock_change: bool  # the machine is off until the eve of the next clock change, and the day is that one
    send_at: time | None  # a new hour, set the evening before
    gives_up: bool  # what waits for a person is left alone
    turn_at: float  # when the clock jumps to the quiet hour or to midnight
    morning: tuple[Act, ...] = ()
    acts: tuple[Act, ...] = field(default=())

    def __str__(self) -> str:
        head = f"day {self.number} of seed {self.seed}: {self.kind}"
        head += f", {self.days_ahead} days later" if self.days_ahead else ""
        head += ", on the day of a clock change" if self.to_clock_change else ""
        head += f", the hour is moved to {self.send_at:%H:%M}" if self.send_at else ""
        head += ", left alone when it waits" if self.gives_up else ""
        head += f", at {self.turn_at:.1f} s" if "mid-run" in self.kind else ""
        before = [f"  before   {act}" for act in self.morning]
        return "\n".join([head, *before, *(f"  after  {act}" for act in self.acts)])


def draw_population(seed: int) -> int:
    """How many people were imported in the beginning."""
    return Random(f"{seed}").randrange(60, 201)  # noqa: S311 -- reproducible is what it must be


def draw_day(seed: int, number: int) -> DayPlan:
    """The plan of the `number`th day; days do not depend on each other."""
    rng = Random(f"{seed}/{number}")  # noqa: S311
    people = draw_population(seed)
    (kind,) = rng.choices([*KINDS], [*KINDS.values()])
    hour = rng.choice(HOURS)
    acts = [_draw(rng, MACHINE, people, number) for _ in range(rng.randint(1, 4))]
    acts += [_draw(rng, TELEGRAM, people, number) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    acts += [_draw(rng, PEOPLE, people, number) for _ in range(rng.randint(2, 7))]
    curator = dict(CURATOR)
    if kind == "midnight in mid-run":
        del curator["start twice"]  # after midnight it would start the next day
    acts += [_draw(rng, curator, people, number) for _ in range(rng.choice((0, 0, 1, 1, 2)))]
    if kind == "restored in mid-run":
        acts = []  # whoever did something after the backup would be forgotten, as nobody can mend
    if kind == "the wrong bot":
        # Alone: where something stopped the run before the fifth answer, Telegram's word would be taken for good.
        acts = [Act(at=0.0, name=EVERYBODY_GONE, times=30)]
    morning = [_draw(rng, PEOPLE, people, number) for _ in range(rng.randint(2, 6))]
    return DayPlan(
        seed=seed,
        number=number,
        kind=kind,
        days_ahead=rng.choice((0,) * 8 + (1, 3)),
        to_clock_change=rng.random() < 0.06,
        send_at=hour if rng.random() < 0.2 else None,
        gives_up=rng.random() < 0.4,
        turn_at=round(rng.uniform(0.2, 0.8) * people / PACE, 2),
        morning=tuple(sorted(morning, key=lambda act: act.at)),
        acts=tuple(sorted(acts, key=lambda act: act.at)),
    )


def _draw(rng: Random, table: dict[str, int], people: int, number: int) -> Act:
    (name,) = rng.choices([*table], [*table.values()])
    chat = FIRST_PERSON + rng.randrange(people)
    if "group" in name or name == "migrate":
        chat = FIRST_GROUP - rng.randrange(GROUPS)
    if "newcomer" in name:
        chat = FIRST_NEWCOMER + 100 * number + rng.randrange(100)
    has_chat = table is PEOPLE or name in {"flood for a group", "refuse a chat"}
    lasts = name.startswith("freeze") or name in {"hang", "delay", "flood for all"}
    return Act(
        at=round(rng.uniform(0.0, people / PACE), 2),
        name=name,
        chat=chat if has_chat else 0,
        times=rng.randint(1, 4) if table is TELEGRAM else 1,
        seconds=round(rng.uniform(0.5, 2.5), 1) if lasts else 0.0,
        jump=rng.choice((0.0, 300.0)) if name.startswith("freeze") else 0.0,
    )
