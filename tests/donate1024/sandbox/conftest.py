"""One sandbox for the tests that only ask it something, each in a chat of its own; a fresh one for the rest."""

import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from PIL import Image
from telegram import Bot

from donate1024.sandbox import TOKEN, Json
from tests.sandbox_process import SandboxProcess

_chat_ids = count(1_000)
Api = Callable[..., tuple[int, Json]]


def call(url: str, name: str, token: str = TOKEN, **fields: Any) -> tuple[int, Json]:
    """One call over plain HTTP: the status and the body. What is no text goes as JSON, as the libraries send it."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in fields.items()}
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        connection.request("POST", f"/bot{token}/{name}", urlencode(texts), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def picture(width: int = 40, height: int = 30, kind: str = "JPEG") -> bytes:
    output = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(output, kind)
    return output.getvalue()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("sandbox")) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path) as sandbox:
        yield sandbox


@pytest.fixture
def api(shared: SandboxProcess) -> Api:
    return lambda name, **fields: call(shared.url, name, **fields)


@pytest.fixture
def chat(shared: SandboxProcess) -> int:
    return open_chat(shared)


def open_chat(sandbox: SandboxProcess, **given: Any) -> int:
    chat: Json = {"chat_id": next(_chat_ids), **given}
    sandbox.post("/control/chats", [chat])
    chat_id: int = chat["chat_id"]
    return chat_id


@pytest.fixture
async def bot(shared: SandboxProcess) -> AsyncIterator[Bot]:
    async with Bot(TOKEN, base_url=f"{shared.url}/bot") as bot:
        yield bot
