"""A fault is told when it begins and when it ends, once each."""

import logging
from dataclasses import replace

import pytest

from donate1024.watch.judging import Finding
from donate1024.watch.rules import RULES
from donate1024.watch.telling import Telling

BEAT = next(rule for rule in RULES if rule.part == "beat")
WELL = Finding(BEAT, age=10.0, witnessed=10.0, is_consequence=False)
SILENT = Finding(BEAT, age=200.0, witnessed=200.0, is_consequence=False)
NOT_SEEN_LONG = Finding(BEAT, age=200.0, witnessed=5.0, is_consequence=False)
NOT_KNOWN = Finding(BEAT, age=None, witnessed=500.0, is_consequence=True)


def hear(caplog: pytest.LogCaptureFixture, telling: Telling, *findings: Finding) -> list[tuple[str, str]]:
    """What each hearing told, with its condition."""
    caplog.set_level(logging.INFO)
    caplog.clear()
    for finding in findings:
        telling.hear([finding])
    return [
        (record.levelname, getattr(record, "opens", "") or getattr(record, "closes", "")) for record in caplog.records
    ]


def test_a_fault_is_told_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    told = hear(caplog, Telling(), WELL, SILENT, SILENT, SILENT, WELL, WELL, SILENT)

    assert told == [("INFO", "beat"), ("ERROR", "beat"), ("INFO", "beat"), ("ERROR", "beat")]


def test_a_looker_that_has_just_begun_tells_the_end_of_what_an_earlier_one_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert hear(caplog, Telling(), NOT_SEEN_LONG, WELL) == [("INFO", "beat")]


def test_a_looker_that_has_just_begun_tells_no_end_of_what_lasts(caplog: pytest.LogCaptureFixture) -> None:
    assert hear(caplog, Telling(), NOT_SEEN_LONG, NOT_KNOWN, SILENT) == [("ERROR", "beat")]


def test_what_cannot_be_known_stays_as_it_was_told(caplog: pytest.LogCaptureFixture) -> None:
    assert hear(caplog, Telling({"beat": True}), NOT_KNOWN, SILENT, NOT_KNOWN, WELL) == [("INFO", "beat")]


def test_a_consequence_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    assert hear(caplog, Telling({"beat": False}), replace(SILENT, is_consequence=True)) == []


def test_the_minutes_are_told(caplog: pytest.LogCaptureFixture) -> None:
    hear(caplog, Telling(), SILENT)

    assert "stood still for 3 min" in caplog.text
