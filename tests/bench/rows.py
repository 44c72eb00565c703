"""The rows of the bench, each of which can be run alone; all commit durably and go through the real slices."""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import monotonic, sleep

from tests.bench import running, tree
from tests.bench.figures import Figure
from tests.bench.ground import Ground, wait_until
from tests.bench.rivals import by_aiogram, by_tasks
from tests.bench.running import OPEN, Run, run

UNLIMITED = 3000.0  # messages a second asked for: more than two cores carry
SMALL, ENGINE, PACED = 10_000, 20_000, 30_000  # recipients
SETTLED = ("sent", "unknown")


@dataclass
class Bench:
    """The ground, what was measured on it, and how large the rows are: 1.0 is their size."""

    ground: Ground
    size: float = 1.0
    repeats: int = 3
    figures: list[Figure] = field(default_factory=list)
    rates: dict[str, list[int]] = field(default_factory=dict)  # messages in each tenth of a second
    engine_rate: float = 0.0

    def sized(self, recipients: int) -> int:
        return max(20, int(recipients * self.size))

    def note(
        self, row: str, what: str, value: float, *, most: float | None = None, least: float = 0, unit: str = ""
    ) -> None:
        target = least if most is None else most
        self.figures.append(Figure(row, what, round(value, 3), target, unit, is_least=most is None))

    def note_run(self, row: str, done: Run) -> None:
        self.note(row, "sent twice", done.report["twice"], most=0)
        self.rates[row] = done.report["tenths"]


def pacing(bench: Bench) -> None:
    """A stand-in that refuses the 31st of any second (70 s)."""
    seconds = max(3.0, 60 * bench.size)
    bench.ground.populate(int(31 * (seconds + 10)))
    bench.ground.set_standin(latency=running.LATENCY, limit=30)
    with bench.ground.worker(rate=30) as worker:
        cpu = bench.ground.cpu_seconds(worker)
        bench.ground.plan()
        running.watch(bench.ground, until=1, seconds=60)
        sleep(seconds + 3)
        done = running.measure(bench.ground, worker, since=cpu)
    tenths = done.report["tenths"]
    full = tenths[10 : 10 + int(10 * seconds)]
    bench.note("pacing", "of the allowed 30/s", 100 * sum(full) / (3 * len(full)), least=97, unit="%")
    bench.note("pacing", "answers 429", done.report["refused"], most=0)
    bench.note("pacing", "most in a calendar second", done.report["most_in_a_calendar_second"], most=30)
    bench.note_run("pacing", done)


def engine(bench: Bench) -> None:
    """As fast as it goes, 80 ms latency (60 s)."""
    runs = [run(bench.ground, recipients=bench.sized(ENGINE), rate=UNLIMITED) for _ in range(bench.repeats)]
    bench.engine_rate = median(done.rate for done in runs)
    bench.note("engine", "messages a second", bench.engine_rate, least=1800, unit="/s")
    bench.note("engine", "CPU a message", median(done.cpu_milliseconds for done in runs), most=0.6, unit="ms")
    bench.note_run("engine", runs[-1])


def paced(bench: Bench) -> None:
    """At Telegram's highest rate (40 s)."""
    done = run(bench.ground, recipients=bench.sized(PACED), rate=1000)
    bench.note("paced", "of 1,000/s", done.rate / 10, least=97, unit="%")
    bench.note("paced", "in flight", done.report["most_in_flight"], most=130)
    bench.note("paced", "CPU a message", done.cpu_milliseconds, most=0.8, unit="ms")
    bench.note_run("paced", done)


def rivals(bench: Bench) -> None:
    """What others do, against the same stand-in (120 s)."""
    ours = bench.engine_rate or run(bench.ground, recipients=bench.sized(ENGINE), rate=UNLIMITED).rate
    kept = by_tasks(bench.ground, "rival.kept_client", bench.sized(2000))
    new = by_tasks(bench.ground, "rival.new_bot", bench.sized(400))
    loop = by_aiogram(bench.ground, bench.sized(ENGINE))
    bench.note("rivals", f"times a task each, kept client ({kept:.0f}/s)", ours / kept, least=10)
    bench.note("rivals", f"times a task each, new Bot ({new:.0f}/s)", ours / new, least=50)
    bench.note("rivals", f"times an aiogram loop without records ({loop:.0f}/s)", ours / loop, least=0.8)


def million(bench: Bench) -> None:
    """Planning, memory and growth at 1,000,000 recipients (150 s)."""
    small = run(bench.ground, recipients=bench.sized(SMALL), rate=1000)
    recipients = bench.sized(1_000_000)
    bench.ground.populate(recipients)
    bench.ground.set_standin(latency=running.LATENCY)
    with bench.ground.worker(rate=1000) as worker:
        began = monotonic()
        bench.ground.plan()
        planned = monotonic() - began
        first = running.watch(bench.ground, until=1, seconds=60)
        running.watch(bench.ground, until=recipients // 100, seconds=120)
        memory, cpu = worker.memory(), bench.ground.cpu_seconds(worker)
        sent = bench.ground.report()["received"]
        running.watch(bench.ground, until=min(sent + 2 * bench.sized(SMALL), recipients), seconds=120)
        large = 1000 * (bench.ground.cpu_seconds(worker) - cpu) / max(bench.ground.report()["received"] - sent, 1)
        later = worker.memory()
        bench.rates["million"] = bench.ground.report()["tenths"]
    bench.note("million", "planning", planned, most=15, unit="s")
    bench.note("million", "first message after it", first, most=5, unit="s")
    bench.note("million", "CPU a message, against 10,000", 100 * large / small.cpu_milliseconds, most=110, unit="%")
    bench.note("million", "largest worker process", max(memory, later), most=150, unit="MB")
    bench.note("million", "its growth", later - memory, most=5, unit="MB")
    valkey = bench.ground.valkey.process
    bench.note("million", "Valkey", tree.megabytes(valkey.pid) if valkey else 0, most=50, unit="MB")


def kill(bench: Bench) -> None:
    """A worker killed at full rate, and another that goes on (30 s)."""
    recipients = bench.sized(ENGINE)
    bench.ground.populate(recipients)
    bench.ground.set_standin(latency=running.LATENCY)
    with bench.ground.worker(rate=UNLIMITED):
        bench.ground.plan()
        running.watch(bench.ground, until=recipients // 3, seconds=120)
    left = bench.ground.statuses().get("sending", 0)
    bench.ground.pass_time(minutes=5)
    with bench.ground.worker(rate=UNLIMITED):
        bench.ground.sweep()
        wait_until(lambda: OPEN.isdisjoint(bench.ground.statuses()), seconds=running.PATIENCE, what="the rest")
    found, report = bench.ground.statuses(), bench.ground.report()
    bench.note("kill", "unknown", found.get("unknown", 0), most=left)
    bench.note("kill", "sent twice", report["twice"], most=0)
    bench.note("kill", "neither sent nor unknown", recipients - sum(found.get(it, 0) for it in SETTLED), most=0)
    bench.rates["kill"] = report["tenths"]


def replies(bench: Bench) -> None:
    """200 people press «start» at once, while a broadcast goes out at 25/s (30 s)."""
    bench.ground.populate(2000)
    bench.ground.set_standin(latency=running.LATENCY)
    with bench.ground.worker(rate=25), bench.ground.bot():
        bench.ground.plan()
        running.watch(bench.ground, until=25, seconds=60)
        bench.ground.press(200)
        wait_until(lambda: len(bench.ground.report()["waits"]) >= 200, seconds=60, what="200 replies")
        waits = sorted(bench.ground.report()["waits"])
    bench.note("replies", "the 99th of 100 waits", waits[int(0.99 * len(waits)) - 1], most=1, unit="s")


ROWS: dict[str, Callable[[Bench], None]] = {
    row.__name__: row for row in (pacing, engine, paced, rivals, million, kill, replies)
}
