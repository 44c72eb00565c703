"""`make run`: everything, kept running until Ctrl-C."""

import os
import secrets
import time as system_clock
from collections.abc import Mapping
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

from donate1024.sandbox.clock import Clock
from donate1024.stack import environment, outside, ports, roles, welcome
from donate1024.stack.embedded import Postgres, Valkey
from donate1024.stack.links import Asking
from donate1024.stack.processes import Command
from donate1024.stack.secrets_file import keep_secrets
from donate1024.stack.state import Place, claimed
from donate1024.stack.supervisor import Supervisor
from donate1024.stack.terminal import Terminal

READY_WITHIN = 60.0
SANDBOX_RATE = 30  # Telegram's own
SAMPLE_SEND_AT = time(8)


def run(terminal: Terminal) -> int:
    """Start everything, and bring back what dies, until the person stops it."""
    environ = dict(os.environ)
    state = environment.load(environ)
    is_sandbox = not environ.get("TELEGRAM_BOT_TOKEN")
    _check_settings(state, environ)
    with claimed(state) as lock:
        names = ["WEB_PORT", "FLOWER_PORT"] + (["SANDBOX_PORT"] if is_sandbox else [])
        used = ports.chosen_all(environ, names)
        place = _furnish(state, lock, used)
        with Supervisor(terminal) as supervisor:
            try:
                _start(supervisor, place, used)
                asking = Asking(place)
                supervisor.look_until_ready(within=READY_WITHIN)
                welcome.show(terminal, place, used, asking.answer(), now=_clock(place).local())
                while True:
                    supervisor.look()
                    system_clock.sleep(0.2)
            except KeyboardInterrupt:
                terminal.event("stopping", "what is being sent ends first: 45 s at most. Nothing is lost")
                return 0


def _check_settings(state: Path, environ: dict[str, str]) -> None:
    """Stop at a wrong setting while nothing is begun."""
    secret = environ.get("SECRET_KEY") or secrets.token_urlsafe(50)  # `keep_secrets` makes the lasting one
    Command("check", place=Place(state, environ | {"SECRET_KEY": secret})).output()


def _furnish(state: Path, lock: int, used: Mapping[str, int]) -> Place:
    """The environment of every child: what the person set, and what was generated."""
    sandbox_port = used.get("SANDBOX_PORT")
    keep_secrets(state, sandbox_port=sandbox_port)
    environ = dict(os.environ)
    environment.load(environ)
    environ |= {"STATE_DIR": str(state), "PYTHONUNBUFFERED": "1"}
    if sandbox_port is not None:
        environ |= environment.of_sandbox(environ, port=sandbox_port)
    return Place(state, environ, keep_open=(lock,))


def _start(supervisor: Supervisor, place: Place, used: Mapping[str, int]) -> None:
    sandbox_port = used.get("SANDBOX_PORT")
    if sandbox_port is not None:
        supervisor.serve(roles.sandbox(place, port=sandbox_port, rate=SANDBOX_RATE))
    _start_servers(supervisor, place)
    Command("migrate", "--no-input", "--verbosity", "0", place=place).output()
    supervisor.terminal.event("database", "ready", "green")
    if sandbox_port is not None and not (place.state / "clock-offset").exists():
        _begin_sandbox(place)
    supervisor.run(roles.web(place, port=used["WEB_PORT"]))
    supervisor.run(roles.bot(place))
    supervisor.run(roles.telegram_worker(place))
    supervisor.run(roles.default_worker(place))
    supervisor.run(roles.beat(place))
    supervisor.run(roles.flower(place, port=used["FLOWER_PORT"]))


def _start_servers(supervisor: Supervisor, place: Place) -> None:
    """Only what the person has not got already: DATABASE_URL and REDIS_URL win where they are set."""
    has_database = place.env["DATABASE_URL"] != environment.database_url(place.state)
    has_redis = place.env["REDIS_URL"] != environment.redis_url(place.state)
    if has_database:
        outside.check_database(place.env["DATABASE_URL"])
    if has_redis:
        outside.check_redis(place.env["REDIS_URL"])
    if not has_database:
        postgres = Postgres(place.state, keep_open=place.keep_open)
        supervisor.serve(postgres)
        postgres.create_database(environment.DATABASE)
    if not has_redis:
        supervisor.serve(Valkey(place.state, keep_open=place.keep_open))


def _begin_sandbox(place: Place) -> None:
    """Samples, schedule, curator and the next morning; the clock's file comes last, and says that all was done."""
    Command("prepare_sandbox", place=place).output()
    _clock(place).jump_to_next_morning()


def _clock(place: Place) -> Clock:
    return Clock(place.state, ZoneInfo(place.env.get("TIME_ZONE") or "Europe/Kyiv"), SAMPLE_SEND_AT)
