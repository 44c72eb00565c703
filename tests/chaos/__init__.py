"""Seeded chaos: whole days with faults drawn at random, judged by the sandbox's own ledger.

`python -m tests.chaos --seed 7 --days 3` starts everything as `make run` does, on a throw-away directory, and stays
outside of it: it kills and stops processes, moves the sandbox's clock, does what people and curators do. Nothing of
ours is imported but the launcher, which knows no Django.
"""
