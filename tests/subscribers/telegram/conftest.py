"""A bot of ours, and servers that misbehave."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pytest_django.fixtures import Settings
from telegram import Bot

from subscribers.telegram.client import open_bot
from tests.sandbox_process import SandboxProcess


@pytest.fixture(scope="module")
def running_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("sandbox")) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: SandboxProcess, settings: Settings) -> SandboxProcess:
    running_sandbox.delete("/control/faults")
    settings.TELEGRAM_API_URL = running_sandbox.url
    return running_sandbox


@pytest.fixture
async def bot(sandbox: SandboxProcess) -> AsyncIterator[Bot]:
    async with open_bot(connections=2) as bot:
        yield bot
