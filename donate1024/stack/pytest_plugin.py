"""A throw-away PostgreSQL and Valkey for one pytest session, also under xdist (`-p donate1024.stack.pytest_plugin`)."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from donate1024 import redis_urls
from donate1024.stack import environment
from donate1024.stack.embedded import Postgres, Valkey

# The broker's database, the limiter's, the cache's: redis_urls.
DATABASES_A_WORKER = 3
PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}  # the stand-ins are on this machine

_until_the_end = ExitStack()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest-django reads the settings
def pytest_load_initial_conftests() -> Generator[None, object, object]:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        _choose_servers()
    else:
        _take_a_share(worker)
    return (yield)


def pytest_unconfigure() -> None:
    _until_the_end.close()


def _choose_servers() -> None:
    """Leave only the tests' own settings in the environment: no test may reach a real bot or a real database."""
    for name in environment.NAMES | PROXIES | {name.lower() for name in PROXIES}:
        os.environ.pop(name, None)
    state = Path(tempfile.mkdtemp(prefix="donate1024-tests-"))
    _until_the_end.callback(shutil.rmtree, state, ignore_errors=True)
    _until_the_end.callback(shutil.rmtree, environment.socket_dir(state), ignore_errors=True)
    if "TEST_DATABASE_URL" not in os.environ:
        _until_the_end.enter_context(Postgres(state, durable=False))
        os.environ["TEST_DATABASE_URL"] = environment.database_url(state)
    if "TEST_REDIS_URL" not in os.environ:
        _until_the_end.enter_context(Valkey(state, durable=False))
        os.environ["TEST_REDIS_URL"] = environment.redis_url(state)
    os.environ |= {
        "DONATE1024_SANDBOX": "1",
        "DONATE1024_ENV_FILE": "",
        "STATE_DIR": str(state),
        "SECRET_KEY": secrets.token_urlsafe(50),
        "TELEGRAM_API_URL": "http://127.0.0.1:9",  # nobody listens there
        "DATABASE_URL": os.environ["TEST_DATABASE_URL"],
        "REDIS_URL": os.environ["TEST_REDIS_URL"],
    }


def _take_a_share(worker: str) -> None:
    """What the session chose is inherited by xdist's workers; each needs its own clock file and Valkey databases."""
    state = Path(os.environ["STATE_DIR"], worker)
    state.mkdir()
    place = DATABASES_A_WORKER * (1 + int(worker.removeprefix("gw")))
    os.environ["STATE_DIR"] = str(state)
    os.environ["REDIS_URL"] = redis_urls.database(os.environ["TEST_REDIS_URL"], after=place)
