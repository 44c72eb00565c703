"""`python -m tests.chaos --seed 7 --days 3`."""

import argparse
import signal
import sys
import time

from rich.console import Console

from tests.chaos.report import print_totals
from tests.chaos.run import Run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="the same one draws the same days")
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--first", type=int, default=1, help="begin with this day's plan")
    options = parser.parse_args()
    console = Console(width=200)
    console.print(f"seed {options.seed}: SEED={options.seed} draws these days again")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left behind
    began, run, is_good = time.monotonic(), Run(options.seed, console), False
    try:
        is_good = all(run.day(number) for number in range(options.first, options.first + options.days))
    finally:
        print_totals(console, run.totals, seconds=time.monotonic() - began)
        run.there.stop()
        if is_good:
            run.there.forget()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
