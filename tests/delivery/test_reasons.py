"""The reasons that rows store are read in the reader's language."""

import pytest
from django.utils import translation

from delivery import reasons


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("", ""),
        ("paused by hand", "зупинила людина"),
        ("Telegram refused the text: can't find end", "Telegram не прийняв текст: can't find end"),
        ("День пам'яті: мовчимо", "День пам'яті: мовчимо"),  # a person's own
    ],
)
def test_a_known_reason_is_read_in_the_readers_language(stored: str, read: str) -> None:
    with translation.override("uk"):
        assert reasons.in_words(stored) == read
