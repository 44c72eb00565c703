"""A fault is told when it begins and when it ends, once each."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.conf import LazySettings
from django.utils import timezone

from donate1024.alerts.reading import read
from donate1024.alerts.wording import message
from donate1024.watch.judging import Finding
from donate1024.watch.rules import RULES
from donate1024.watch.telling import Telling

NOW = timezone.make_aware(datetime(2026, 1, 15, 10))  # noqa: DTZ001 -- in the local time zone
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


def test_an_operator_is_told_the_part_its_silence_and_its_log(caplog: pytest.LogCaptureFixture) -> None:
    hear(caplog, Telling(), SILENT)

    alert = read(caplog.records[-1], at=NOW)
    assert alert.technical == "beat: no sign for 200 s · log “beat”"


def test_the_end_is_told_in_words_of_its_own_and_counts_from_the_first_silence(
    caplog: pytest.LogCaptureFixture, settings: LazySettings
) -> None:
    settings.LANGUAGE_CODE = "en"
    hear(caplog, Telling(), SILENT)
    alert = read(caplog.records[-1], at=NOW)
    hear(caplog, Telling(), WELL)

    alert.fold_in(read(caplog.records[-1], at=NOW + timedelta(minutes=5)), at=NOW)
    told = message(alert)

    assert told.title == "The part that keeps the time works again."
    assert told.meaning == "It lasted from 09:56 to 10:05."
