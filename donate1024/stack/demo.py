"""`make demo`: one whole morning with the real parts, on throw-away data, judged by the sandbox's own ledger."""

import json
import os
import secrets
import shutil
import tempfile
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

from donate1024.sandbox.clock import Clock
from donate1024.stack import environment, population, ports, roles, sandbox_control
from donate1024.stack.embedded import Postgres, Valkey
from donate1024.stack.processes import Command
from donate1024.stack.progress import Books, follow
from donate1024.stack.state import Place, claimed
from donate1024.stack.supervisor import Supervisor
from donate1024.stack.terminal import Terminal
from donate1024.stack.verdict import faults

RATE = 60  # messages/s that this sandbox allows; Telegram allows 30
MORNING = time(8, 0, 10)  # the sandbox's clock stops a few seconds before it: just after 08:00, when the day begins
READY_WITHIN, BROADCAST_WITHIN = 60.0, 120.0
FAILED, INTERRUPTED = 1, 130


def demo(terminal: Terminal) -> int:
    """0 if the books balance and everybody who could be reached was served once, and nobody else."""
    state = Path(tempfile.mkdtemp(prefix="donate1024-demo-"))
    code = FAILED
    try:
        with claimed(state) as lock:
            sandbox_port = ports.free()
            place = Place(state, _environment(state, sandbox_port), keep_open=(lock,))
            with Supervisor(terminal) as supervisor:
                code = _morning(supervisor, place, sandbox_port)
    finally:
        if code == FAILED:
            terminal.trouble("demo", f"the logs are in {state / 'logs'}")
        else:
            shutil.rmtree(state, ignore_errors=True)
        shutil.rmtree(environment.socket_dir(state), ignore_errors=True)
    return code


def _environment(state: Path, sandbox_port: int) -> dict[str, str]:
    """Nothing of the person's own settings."""
    return {name: value for name, value in os.environ.items() if name not in environment.NAMES} | {
        "DONATE1024_ENV_FILE": "",
        **environment.of_sandbox(os.environ, port=sandbox_port),
        "STATE_DIR": str(state),
        "DATABASE_URL": environment.database_url(state),
        "REDIS_URL": environment.redis_url(state),
        "SECRET_KEY": secrets.token_urlsafe(50),
        "CURATOR_PASSWORD": secrets.token_urlsafe(9),
        "TELEGRAM_MESSAGES_PER_SECOND": str(RATE),
        "PYTHONUNBUFFERED": "1",
    }


def _morning(supervisor: Supervisor, place: Place, sandbox_port: int) -> int:
    terminal = supervisor.terminal
    try:
        _set_up(supervisor, place, sandbox_port)
    except KeyboardInterrupt:
        terminal.event("stopping", "nothing was sent yet")
        return INTERRUPTED
    with Books(place.env["DATABASE_URL"]) as books:
        try:
            terminal.event("broadcast", Command("broadcast", "start", place=place).output().strip())
            # After it, not before: their start must not slow down the morning, nor their tick anticipate it.
            supervisor.run(roles.default_worker(place))
            supervisor.run(roles.beat(place))
            follow(supervisor, books, within=BROADCAST_WITHIN)
            return _judge(terminal, place, sandbox_port)
        except KeyboardInterrupt:
            terminal.event("stopping", "what is being sent ends first")
            supervisor.stop_processes()
            _explain(terminal, books)
            return INTERRUPTED


def _set_up(supervisor: Supervisor, place: Place, sandbox_port: int) -> None:
    """Servers, tables, people; side by side, as far as one does not need the other."""
    people = population.chats()
    supervisor.serve(roles.sandbox(place, port=sandbox_port, rate=RATE))
    postgres = Postgres(place.state, durable=False, keep_open=place.keep_open)
    supervisor.serve(postgres)
    supervisor.serve(Valkey(place.state, durable=False, keep_open=place.keep_open))
    postgres.create_database(environment.DATABASE)
    # Before the tables: it needs them only when there is something to send, and its start takes two seconds.
    supervisor.run(roles.telegram_worker(place))
    Command("migrate", "--no-input", "--verbosity", "0", place=place).output()
    supervisor.terminal.event("database", "ready", "green")

    file = place.state / "subscribers.csv"
    file.write_text(population.as_csv(people))
    commands = [Command("prepare_sandbox", place=place), Command("import_subscribers", str(file), place=place)]
    for command in commands:
        command.output()
    supervisor.look_until_ready(within=READY_WITHIN)
    sandbox_control.add_chats(sandbox_port, people)
    now = Clock(place.state, ZoneInfo("Europe/Kyiv"), MORNING).jump_to_next_morning()
    supervisor.terminal.event("sandbox", f"{len(people)} people, some of them gone; its clock shows {now:%H:%M}")


def _judge(terminal: Terminal, place: Place, sandbox_port: int) -> int:
    people = population.chats()
    shown = Command("broadcast", "status", place=place)
    counted = Command("broadcast", "status", "--json", place=place)
    served = sandbox_control.messages_by_chat(sandbox_port)
    terminal.console.print(f"\n{shown.output()}")
    wrong = faults(
        books=json.loads(counted.output()),
        served=served,
        reachable=population.reachable(people),
        recipients=len(people),
    )
    for sentence in wrong:
        terminal.trouble("demo", sentence)
    if not wrong:
        everybody = f"each of the {len(served)} people who could be reached got today's fundraiser once"
        terminal.event("demo", f"by the sandbox's own ledger {everybody}, and nobody else", "green")
    return FAILED if wrong else 0


def _explain(terminal: Terminal, books: Books) -> None:
    count = books.count()
    terminal.console.print(f"\nStopped in mid-run. The books so far: {count}.")
    terminal.console.print(
        f"What was being sent was finished and recorded. The {count.rows['pending']} still pending got nothing;"
        " under `make run` they go out at the next start, each once. The demo's data is thrown away.\n"
    )
