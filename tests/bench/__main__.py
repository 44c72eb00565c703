"""`python -m tests.bench engine paced --json figures.json --graph rate.png`; without names, every row."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.graph import draw
from tests.bench.ground import Ground
from tests.bench.rows import ROWS, Bench


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="row", help="; ".join(_help()))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--graph", type=Path, metavar="FILE", help="draw the rate over time here, a PNG")
    parser.add_argument("--size", type=float, default=1.0, help="0.01 runs each row with a hundredth of its messages")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left behind
    console = Console(width=120)
    with Ground() as ground:
        bench = Bench(ground, size=options.size, repeats=3 if options.size >= 1 else 1)
        for name in options.rows or ROWS:
            console.print(f"[bold]{name}[/bold] {ROWS[name].__doc__}  load {os.getloadavg()[0]:.1f}")
            ROWS[name](bench)
    _print(bench, console)
    if options.json:
        figures = [figure.as_json() for figure in bench.figures]
        options.json.write_text(json.dumps({"figures": figures, "tenths": bench.rates}, indent=1))
    if options.graph:
        draw(bench.rates, to=options.graph)
    return 0  # a figure that is not met is no failure: machines differ


def _help() -> list[str]:
    return [f"{name}: {(row.__doc__ or '').rstrip('.')}" for name, row in ROWS.items()]


def _print(bench: Bench, console: Console) -> None:
    table = Table("row", "what", "target", "figure", "met")
    for figure in bench.figures:
        met = "yes" if figure.is_met else "[bold red]no[/bold red]"
        table.add_row(figure.row, figure.what, figure.wanted, f"{figure.value:,g} {figure.unit}", met)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
