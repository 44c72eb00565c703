"""The reasons that rows store are known to the translators."""

import re
from pathlib import Path

import pytest
from django.utils import translation

from delivery import control, planning, reasons, sweeping


def test_every_reason_that_the_machine_writes_is_known() -> None:
    source = "".join(file.read_text() for file in Path(reasons.__file__).parent.glob("*.py"))

    written = set(re.findall(r'(?:reason=|pause=f?|left_reason or )"([^":]+)', source))
    named = {control.BY_HAND, planning.MISSED, planning.NOTHING_TO_SHOW, sweeping.LATE_START, sweeping.QUIET_HOUR}

    assert written
    assert written | named <= reasons.KNOWN


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("", ""),
        ("paused by hand", "поставили на паузу"),
        ("Telegram refused the text: can't find end", "Telegram не прийняв текст: can't find end"),
        ("День пам'яті: мовчимо", "День пам'яті: мовчимо"),  # a person's own
    ],
)
def test_a_known_reason_is_read_in_the_readers_language(stored: str, read: str) -> None:
    with translation.override("uk"):
        assert reasons.in_words(stored) == read
