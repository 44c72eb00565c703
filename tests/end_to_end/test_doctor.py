"""The doctor beside `make run`, with every service set up."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from tests.donate1024.doctor.mail_server import PASSWORD, mail_server
from tests.donate1024.doctor.services import as_bluesky, as_gemini
from tests.donate1024.stack.running import Run
from tests.http_peer import HttpPeer

pytestmark = pytest.mark.end_to_end

ADMIN = 77


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with HttpPeer() as monitor, HttpPeer(as_bluesky) as bluesky, HttpPeer(as_gemini) as gemini, mail_server() as port:
        services = {
            "HEARTBEAT_URL": f"{monitor.url}/the-check",
            "BLUESKY_HANDLE": "name.example.org",
            "BLUESKY_APP_PASSWORD": "abcd-efgh-ijkl-mnop",
            "BLUESKY_URL": bluesky.url,
            "GEMINI_API_KEY": "AIzaSyNobodysKey",
            "GEMINI_API_URL": gemini.url,
            "EMAIL_URL": f"smtp://user:{PASSWORD}@127.0.0.1:{port}/",
            "ALERT_EMAILS": "people@example.org",
            "TELEGRAM_ADMIN_CHATS": str(ADMIN),
        }
        with Run(tmp_path_factory.mktemp("doctor") / "state", **services) as run:
            telegram = HTTPConnection("127.0.0.1", run.ports["SANDBOX_PORT"], timeout=10)
            telegram.request("POST", "/control/chats", json.dumps([{"chat_id": ADMIN, "state": "open"}]))
            assert telegram.getresponse().status == 200
            telegram.close()
            yield run


def test_all_is_well_and_no_secret_is_told(run: Run) -> None:
    for _ in range(3):  # on a busy machine the libraries' import alone may outlast a deadline
        asked = run.command(sys.executable, "manage.py", "doctor")
        if asked.returncode == 0:
            break

    assert re.findall(r" (?:mend|off): .*", asked.stdout) == [], asked.stdout
    assert asked.returncode == 0
    assert asked.stderr == ""
    assert not re.search(f"the-check|abcd-efgh|AIzaSy|{PASSWORD}", asked.stdout)


def test_frozen_servers_are_named_and_the_rest_is_looked_at(run: Run) -> None:
    frozen = [*run.children("postgres"), *run.children("valkey-server")]
    for process in frozen:
        os.killpg(process, signal.SIGSTOP)
    try:
        asked = run.command(sys.executable, "manage.py", "doctor")
    finally:
        for process in frozen:
            os.killpg(process, signal.SIGCONT)

    assert asked.returncode == 1
    assert re.findall(r"^(\S+) +mend: ", asked.stdout, re.MULTILINE)[:2] == ["database", "Redis"], asked.stdout
    assert re.search(r"^bot +ok: ", asked.stdout, re.MULTILINE)
    assert re.search(r"^time zone +ok: ", asked.stdout, re.MULTILINE)
