"""The bot as a real process, with the sandbox as another."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings
from pytest_django.plugin import DjangoDbBlocker

from tests.end_to_end.installation import Installation
from tests.subscribers.bot.talking import Talk


@pytest.fixture(scope="module")
def listening(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Talk]:
    """One bot for all tests of a file: to start one takes seconds, and people are many."""
    with django_db_blocker.unblock():
        installation = Installation(tmp_path_factory.mktemp("bot"))
        talk = Talk(installation)
        talk.start_bot()
    yield talk
    installation.close()


@pytest.fixture
def talk(transactional_db: None, listening: Talk) -> Talk:
    """A bot that listens, and an empty database."""
    return listening


@pytest.fixture
def own(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[Talk]:
    """A sandbox of the test's own, on a clock of its own, and no bot yet."""
    settings.STATE_DIR = tmp_path
    installation = Installation(tmp_path)
    yield Talk(installation)
    installation.close()
