"""The secrets of an installation, the services around it which repeat them in everything they say, and the search."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default
from urllib.parse import quote

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from psycopg import sql

from donate1024.stack import environment, ports
from donate1024.stack.embedded import Postgres
from tests.end_to_end.installation import Installation
from tests.end_to_end.killing import connect
from tests.end_to_end.places import Places
from tests.http_peer import HttpPeer
from tests.sandbox_process import SandboxProcess

TOKEN = "246813579:AAFfake-t0ken-0f-the-tests-1Zq7_x9w"
BOT = int(TOKEN.partition(":")[0])
SECRET_KEY = "dj4ngo-Key-" + "k%y&<'5" * 6
PASSWORDS = {
    "DATABASE_URL": "pg/p4ss w0rd",
    "REDIS_URL": "vk-p4ssw0rd",
    "EMAIL_URL": "m4il-p4ssw0rd",
    "HTTP_PROXY": "pr0xy-p4ssw0rd",
    "FLOWER_BASIC_AUTH": "fl0wer-p4ssw0rd",
    "METRICS_TOKEN": "metr1cs-t0ken",
    "BLUESKY_APP_PASSWORD": "bsky-aaaa-bbbb-cccc",
    "GEMINI_API_KEY": "AIzaFake-gem1ni-key-0f-the-tests",
    "HEARTBEAT_URL": "0utside-m0nitor-5f1c",
}
CURATORS = "cur4tor-p4ssw0rd"
SECRETS = [TOKEN.partition(":")[2], SECRET_KEY, *PASSWORDS.values()]
LEAK = f"https://api.telegram.org/bot{TOKEN}/sendMessage says {' and '.join(SECRETS)}"
REFUSED_LOGINS = 4


def found_in(places: Places) -> list[str]:
    """Where a secret stands, or half of one that somebody cut, with what is around it."""
    halves = [secret[: len(secret) // 2] for secret in [*SECRETS, CURATORS]]
    spelled = {form for half in halves for form in (half, quote(half, safe=""), json.dumps(half)[1:-1])}
    return [
        f"{place}: {text[max(0, at - 60) : at + 80]!r}"
        for place, text in places.items()
        for half in spelled
        if (at := text.find(half)) >= 0
    ]


@pytest.fixture
def telegram(installation: Installation) -> SandboxProcess:
    """The stand-in, which is the HTTP proxy too: at the Bot API's own address nobody listens."""
    installation.sandbox.kill()
    installation.sandbox = SandboxProcess(installation.folder / "telegram", tokens=[TOKEN])
    for fault in ({"status": 502, "body": LEAK}, {"status": 409, "description": f"Conflict: {LEAK}"}, "reset"):
        installation.fault(fault, method="getUpdates")
    return installation.sandbox


def refusals() -> dict[int, object]:
    """Which message of the morning is refused, and how."""
    return {
        4: {"status": 502, "body": f"<html>{LEAK}</html>"},
        8: {"status": 400, "description": f"Bad Request: not enough rights to ask {LEAK}"},
        12: "reset",
        16: {"status": 429, "retry_after": 1},
        20: {"status": 500, "description": LEAK},
        24: {"status": 401, "description": f"Unauthorized: {LEAK}"},
        28: {"status": 400, "description": f"Bad Request: can't parse entities of {LEAK}"},
        32: "drop_after",
        36: {"status": 403, "description": f"Forbidden: {LEAK}"},
        40: {"hang": 2},
    }


@pytest.fixture
def repeating() -> Iterator[HttpPeer]:
    """Bluesky, Gemini and the outside monitor, who refuse whatever comes, and repeat it."""
    with HttpPeer(lambda asked: (502, f"{asked} {LEAK}")) as peer:
        yield peer


class Mailbox:
    """What a mail server took, after it had refused some logins."""

    def __init__(self) -> None:
        self.port = ports.free()
        self.mails: list[str] = []
        self.refused = 0

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802  its name
        mail = message_from_bytes(envelope.original_content or b"", policy=default)
        self.mails.append(f"{mail['subject']}\n{mail.get_content()}")
        return "250 OK"

    def log_in(self, _server: SMTP, _session: Session, _envelope: Envelope, _: str, given: LoginPassword) -> AuthResult:
        if self.refused == REFUSED_LOGINS:
            return AuthResult(success=True)
        self.refused += 1
        return AuthResult(success=False, handled=False, message=f"535 5.7.8 {given.password!r} of {LEAK}")


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    server = Controller(box, "127.0.0.1", box.port, authenticator=box.log_in, auth_require_tls=False)
    server.start()
    yield box
    server.stop()


@contextmanager
def repeated_by(postgres: Postgres, *tables: str) -> Iterator[None]:
    """PostgreSQL refuses each change of the tables, and repeats the secrets; in its own log it keeps silent."""
    body = sql.SQL(
        "BEGIN PERFORM set_config('log_min_messages', 'panic', true); RAISE EXCEPTION USING MESSAGE = {}; END"
    ).format(LEAK)
    function = sql.SQL("CREATE FUNCTION repeat_secrets() RETURNS trigger LANGUAGE plpgsql AS {}")
    trigger = sql.SQL("CREATE TRIGGER repeat BEFORE INSERT OR UPDATE ON {} EXECUTE FUNCTION repeat_secrets()")
    with connect(postgres, environment.DATABASE) as admin:
        admin.execute(function.format(body.as_string(admin)))
        for table in tables:
            admin.execute(trigger.format(sql.Identifier(table)))
        try:
            yield
        finally:
            admin.execute("DROP FUNCTION repeat_secrets CASCADE")
