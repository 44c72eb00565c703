"""A day with faults of every kind, each of which repeats our secrets: none of them stands anywhere afterwards."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import sleep
from urllib.parse import quote, urlsplit

import pytest
import redis
from django.contrib.auth import get_user_model
from django.db import connection

from delivery.models import Broadcast
from donate1024.stack import ports
from donate1024.stack.embedded import Postgres, Valkey
from tests.donate1024.stack.running import Run
from tests.end_to_end.copies import dump
from tests.end_to_end.installation import Installation
from tests.end_to_end.killing import kill, start_again
from tests.end_to_end.leaks import (
    BOT,
    CURATORS,
    LEAK,
    PASSWORDS,
    SECRET_KEY,
    TOKEN,
    Mailbox,
    found_in,
    mailbox as mailbox,  # noqa: PLC0414 -- a fixture
    refusals,
    repeated_by,
    repeating as repeating,  # noqa: PLC0414
    telegram as telegram,  # noqa: PLC0414
)
from tests.end_to_end.places import Desk, Places, arguments_of, flower_of, kept_in, logs_of
from tests.factories import make_fundraiser
from tests.http_peer import HttpPeer
from tests.sandbox_process import SandboxProcess

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

ADMIN = 77
REPEATING_TABLES = (
    "auth_user",
    "delivery_delivery",
    "delivery_senderslot",
    "subscribers_inboxupdate",
    "subscribers_subscriber",
)


@pytest.fixture
def run(
    installation: Installation,
    postgres: Postgres,
    valkey: Valkey,
    telegram: SandboxProcess,
    repeating: HttpPeer,
    mailbox: Mailbox,
) -> Iterator[Run]:
    """Everything, as a person starts it, with a secret of its own in each setting."""
    installation.sandbox.post("/control/chats", [{"chat_id": ADMIN, "state": "open"}])
    get_user_model().objects.create_superuser("olha", password=CURATORS)
    elsewhere = repeating.url.replace("127.0.0.1", "localhost")
    port = ports.free()
    lock(valkey, port=port)
    env = PASSWORDS | {
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "TELEGRAM_API_URL": "http://127.0.0.1:9",
        "TELEGRAM_ADMIN_CHATS": str(ADMIN),
        "TELEGRAM_MESSAGES_PER_SECOND": "5",
        "HTTP_PROXY": telegram.url.replace("//", f"//me:{PASSWORDS['HTTP_PROXY']}@"),
        "NO_PROXY": "localhost",
        "SECRET_KEY": SECRET_KEY,
        "DATABASE_URL": installation.env["DATABASE_URL"].replace("@", f":{quote(PASSWORDS['DATABASE_URL'], safe='')}@"),
        "REDIS_URL": f"redis://:{PASSWORDS['REDIS_URL']}@127.0.0.1:{port}/0",
        "ALERT_EMAILS": "people@example.org",
        "EMAIL_URL": f"smtp://alerts:{PASSWORDS['EMAIL_URL']}@127.0.0.1:{mailbox.port}",
        "FLOWER_BASIC_AUTH": f"operator:{PASSWORDS['FLOWER_BASIC_AUTH']}",
        "BLUESKY_HANDLE": "donate.example",
        "BLUESKY_URL": elsewhere,
        "GEMINI_API_URL": elsewhere,
        "HEARTBEAT_URL": f"{elsewhere}/{PASSWORDS['HEARTBEAT_URL']}",
    }
    with Run(installation.folder / "state", **env) as run:
        installation.hurry_beat(tick_seconds=2)
        yield run


@pytest.mark.timeout(600)
def test_a_day_of_faults_leaves_no_secret_anywhere(
    installation: Installation, run: Run, postgres: Postgres, valkey: Valkey, repeating: HttpPeer, mailbox: Mailbox
) -> None:
    the_morning(installation, run)
    places = {"the doctor": run.command(sys.executable, "manage.py", "doctor").stdout}
    places["a command"] = the_unforeseen(installation, run, postgres)
    installation.wait_until(lambda: len(mailbox.mails) > 0, seconds=90, what="a mail")
    installation.sandbox.delete("/control/faults")
    servers_die(run, postgres, valkey)

    places |= everything_readable(installation, run, valkey)
    pings = [asked.body for asked in repeating.asked if asked.path.startswith(f"/{PASSWORDS['HEARTBEAT_URL']}")]
    places["what the outside monitor got"] = "\n".join(pings)
    places["mails"] = "\n".join(mailbox.mails)

    assert pings
    assert found_in(places) == []
    reached = {place for place, text in places.items() if "[TELEGRAM_BOT_TOKEN]" in text}
    said = {
        "what Telegram got",
        "mails",
        "the doctor",
        "a command",
        "the database",
        "the site's /admin/delivery/delivery/",
    }
    logs = {f"{name}.log" for name in ("bot", "web", "default", "telegram")}
    assert any("CELERY_BROKER_URL" in text for place, text in places.items() if "/worker/" in place)
    assert reached >= said | logs | {"flower's /api/tasks"}, "the search was for what never came there"


def everything_readable(installation: Installation, run: Run, valkey: Valkey) -> Places:
    desk = Desk(run)
    desk.log_in("olha", CURATORS)
    return {
        # One screen shows Flower's password, on purpose.
        "the supervisor": run.said.read_text().replace(f"operator / {PASSWORDS['FLOWER_BASIC_AUTH']}", ""),
        "broadcast status": run.manage("broadcast", "status") + run.manage("broadcast", "status", "--json"),
        "the database": dump(installation).read_text(),
        "what Telegram got": json.dumps(installation.sandbox.get("/control/ledger"), ensure_ascii=False),
        **logs_of(run),
        **arguments_of(run),
        **kept_in(valkey),
        **flower_of(run, run.env["FLOWER_BASIC_AUTH"]),
        **desk.pages(),
    }


def the_morning(installation: Installation, run: Run) -> None:
    """Each way in which Telegram refuses; a person resumes what it stops."""
    make_fundraiser()
    installation.add_people(60)
    for number, fault in refusals().items():
        installation.fault(fault, method="sendMessage", nth=number)
    run.manage("broadcast", "start", "--now")

    def is_finished() -> bool:
        if Broadcast.objects.get().status == Broadcast.Status.PAUSED:
            run.manage("broadcast", "resume")
        return Broadcast.objects.get().status == Broadcast.Status.FINISHED

    installation.wait_until(is_finished, seconds=200, what="the broadcast to end")


def the_unforeseen(installation: Installation, run: Run, postgres: Postgres) -> str:
    """An exception that nobody knows, with the secrets in its message, in each process and in a command.

    Telegram refuses the alerts about it. Returns what the command said.
    """
    people = installation.folder / "people.csv"
    people.write_text("chat_id\n5005\n")
    installation.fault({"status": 401, "description": f"Unauthorized: {LEAK}"}, chat_id=ADMIN, times=0)
    enqueue = f"from delivery.slices import enqueue_slices; enqueue_slices({Broadcast.objects.get().pk})"
    with repeated_by(postgres, *REPEATING_TABLES):
        installation.sandbox.post("/control/say", {"bot_id": BOT, "chat_id": ADMIN, "text": "/start"})
        Desk(run).log_in("olha", CURATORS)
        run.manage("shell", "-c", enqueue)
        command = run.command(sys.executable, "manage.py", "import_subscribers", str(people))
        for process in ("bot", "web", "default", "telegram"):
            log = run.state / "logs" / f"{process}.log"
            installation.wait_until(partial(tells_it, log), seconds=90, what=f"the unforeseen in {log}")
    return command.stdout + command.stderr


def tells_it(log: Path) -> bool:
    return "CONTEXT:  PL/pgSQL function" in log.read_text()


def servers_die(run: Run, postgres: Postgres, valkey: Valkey) -> None:
    kill(postgres)
    kill(valkey)
    sleep(5)  # while they are away
    start_again(postgres)
    start_again(valkey)
    sleep(2)  # while it does not know the password
    lock(valkey, port=urlsplit(run.env["REDIS_URL"]).port or 0)
    connection.close()


def lock(valkey: Valkey, *, port: int) -> None:
    """From now on it listens on the port, and asks for the password; its next start forgets both."""
    with redis.Redis(unix_socket_path=str(valkey.socket)) as client:
        client.config_set("bind", "127.0.0.1")
        client.config_set("port", port)
        client.config_set("requirepass", PASSWORDS["REDIS_URL"])
