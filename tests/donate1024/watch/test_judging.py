"""What is wrong, as a table: ages in, faults out."""

from math import inf

import pytest
from django.conf import LazySettings, settings as project

from donate1024.watch.judging import Look, judge
from donate1024.watch.rules import RULES

HOURS = 8 * 3600.0
WELL = {rule.part: 0.0 for rule in RULES}
DATABASE_AWAY = {"database": 61.0, "valkey": 0.0}


def told(ages: dict[str, float], *, awake_for: float = HOURS, watched_for: float = HOURS) -> list[str]:
    findings = judge(Look(ages, awake_for=awake_for, watched_for=watched_for))
    return [found.rule.part for found in findings if found.is_telling]


def red(ages: dict[str, float]) -> set[str]:
    return {found.rule.part for found in judge(Look(ages, awake_for=HOURS, watched_for=HOURS)) if found.is_red}


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ({}, []),
        # As long as it is silent in the best of lives, and as long as a person need not know.
        ({"beat": 40.0, "queue:telegram": 75.0, "queue:default": 100.0, "bot": 15.0, "polling": 45.0}, []),
        ({"database": 59.0, "valkey": 59.0}, []),
        ({"database": 61.0}, ["database"]),
        ({"valkey": 61.0}, ["valkey"]),
        ({"beat": 91.0}, ["beat"]),
        ({"queue:telegram": 131.0}, ["queue:telegram"]),
        ({"queue:bluesky": 131.0}, ["queue:bluesky"]),
        ({"queue:bluesky": 300.0, "queue:default": 131.0}, ["queue:default"]),
        ({"task:delivery.plan_todays_broadcast": 151.0}, ["task:delivery.plan_todays_broadcast"]),
        ({"task:delivery.sweep": inf}, ["task:delivery.sweep"]),
        ({"task:watch.look": 151.0}, ["task:watch.look"]),
        ({"bot": 91.0}, ["bot"]),
        ({"web": 91.0}, ["web"]),
        ({"database": 61.0, "web": 200.0}, ["database"]),
        # The bot tells of it itself; only where it does not, we do.
        ({"polling": 239.0}, []),
        ({"polling": 241.0}, ["polling"]),
        ({"deliveries": 599.0, "morning": 899.0}, []),
        ({"deliveries": 601.0}, ["deliveries"]),
        ({"morning": 901.0}, ["morning"]),
        # Of two causes both, of a consequence only the cause.
        ({"database": 61.0, "valkey": 61.0, "beat": 200.0, "bot": 200.0}, ["database", "valkey"]),
        ({"valkey": 61.0, "beat": 200.0, "queue:telegram": 200.0}, ["valkey"]),
        ({"beat": 91.0, "queue:telegram": 131.0, "queue:default": 131.0, "task:delivery.sweep": 240.0}, ["beat"]),
        ({"queue:default": 131.0, "task:delivery.sweep": 240.0, "morning": 1000.0}, ["queue:default"]),
        # What follows may have been silent for longer than its cause, which is told when it is time.
        ({"beat": 70.0, "queue:telegram": 131.0}, []),
        ({"queue:default": 91.0, "task:delivery.sweep": 151.0}, []),
        ({"queue:telegram": 131.0, "deliveries": 1000.0}, ["queue:telegram"]),
        ({"bot": 300.0, "polling": 310.0}, ["bot"]),
        ({"bot": inf, "queue:telegram": inf}, ["queue:telegram", "bot"]),
    ],
)
def test_a_person_hears_of(ages: dict[str, float], expected: list[str], settings: LazySettings) -> None:
    settings.BLUESKY_HANDLE = "name.example.org"

    assert told(WELL | ages) == expected


def test_where_bluesky_is_not_set_up_nobody_misses_it() -> None:
    assert told(WELL | {"queue:bluesky": 300.0}) == []
    assert red(WELL | {"queue:bluesky": 300.0}) == set()


def test_without_the_database_nothing_is_said_of_what_only_it_knows() -> None:
    assert told(DATABASE_AWAY) == ["database"]
    assert red(DATABASE_AWAY) == {rule.part for rule in RULES if rule.is_wanted} - {"valkey"}


def test_a_deaf_bot_is_red_long_before_a_person_hears_of_it() -> None:
    assert red(WELL | {"polling": 76.0}) == {"polling"}


def test_silence_that_nobody_watched_is_none() -> None:
    """After a start, a night switched off, a database or a Valkey that is back: every row is old."""
    old = WELL | dict.fromkeys(WELL, HOURS) | {"database": 0.0, "valkey": 0.0}

    assert told(old, awake_for=5, watched_for=5) == []
    assert told(old, awake_for=HOURS, watched_for=85) == []
    assert told(old, awake_for=HOURS, watched_for=91) == ["beat", "bot", "web"]


@pytest.mark.parametrize(
    ("cause", "unbroken", "consequence"),
    [("beat", 100, "queue:telegram"), ("bot", 200, "polling"), ("queue:telegram", 500, "deliveries")],
)
def test_when_a_cause_is_back_what_followed_from_it_has_its_time(cause: str, unbroken: float, consequence: str) -> None:
    silent = WELL | {consequence: HOURS}

    soon = judge(Look(silent, awake_for=HOURS, watched_for=HOURS, unbroken={cause: unbroken}))
    later = judge(Look(silent, awake_for=HOURS, watched_for=HOURS, unbroken={cause: unbroken + 110}))

    assert [found.rule.part for found in soon if found.is_telling] == []
    assert [found.rule.part for found in later if found.is_telling] == [consequence]


def test_a_server_counts_from_the_lookers_start_alone() -> None:
    never = WELL | {"database": inf}

    assert told(never, awake_for=30, watched_for=0) == []
    assert told(never, awake_for=61, watched_for=0) == ["database"]


def test_a_looker_that_has_just_begun_calls_a_silent_part_neither_silent_nor_well() -> None:
    beat = judge(Look(WELL | {"beat": HOURS}, awake_for=5, watched_for=5))[2]

    assert beat.rule.part == "beat"
    assert (beat.is_telling, beat.is_red, beat.is_well) == (False, False, False)


def test_every_queue_and_every_tick_has_its_rule() -> None:
    parts = {rule.part for rule in RULES}
    ticks = {entry["task"] for entry in project.CELERY_BEAT_SCHEDULE.values()} - {"watch.prove_queue"}

    assert {f"queue:{queue}" for queue in project.WATCHED_QUEUES} <= parts
    assert {f"task:{task}" for task in ticks} <= parts


def test_every_cause_stands_before_what_follows_from_it() -> None:
    parts = [rule.part for rule in RULES]

    for place, rule in enumerate(RULES):
        assert set(rule.causes) <= set(parts[:place])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.part)
def test_every_text_says_what_happened_what_it_means_and_what_to_do(rule: object) -> None:
    text = rule.text % 3  # type: ignore[attr-defined]

    before, found, _ = text.partition(" What to do: ")
    assert found
    assert before.count(". ") >= 1
    assert "3 min" in before
