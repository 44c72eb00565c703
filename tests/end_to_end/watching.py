"""A whole installation in which nobody restarts what dies, and whoever must hear of it."""

import json
import re
import signal
import sys
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Any

from django.utils import translation
from django.utils.translation import gettext

from donate1024.stack import ports
from donate1024.stack.embedded import Postgres, Server, Valkey
from donate1024.watch.rules import RULES
from tests.end_to_end.installation import CELERY, Installation, Process
from tests.end_to_end.killing import family, kill, pid, signal_all, start_again
from tests.http_peer import HttpPeer

ADMIN_CHAT = 900
CHECK = "/check"  # at the outside monitor


class Watched:
    """Everything runs; each part can be killed or frozen, and brought back, by its name."""

    def __init__(self, installation: Installation, postgres: Postgres, valkey: Valkey, monitor: HttpPeer) -> None:
        self.installation, self.monitor = installation, monitor
        self.servers: dict[str, Server] = {"postgres": postgres, "valkey": valkey}
        self.web_port = ports.free()
        installation.env |= {
            "TELEGRAM_ADMIN_CHATS": str(ADMIN_CHAT),
            "HEARTBEAT_URL": monitor.url + CHECK,
        }
        installation.sandbox.post("/control/chats", [{"chat_id": ADMIN_CHAT, "first_name": "Ірина"}])
        self.starts: dict[str, Callable[[], Process]] = {
            "web": self._web,
            "bot": installation.bot,
            "telegram": lambda: installation.worker("telegram"),
            "default": lambda: installation.worker("bluesky", "default"),
            "beat": self._beat,
        }
        self.stopped: list[int] = []
        self.processes = {name: start() for name, start in self.starts.items()}

    def _web(self) -> Process:
        arguments = ("donate1024.asgi:application", "--host", "127.0.0.1", "--port", str(self.web_port))
        return self.installation.start("web", sys.executable, "-m", "uvicorn", *arguments)

    def _beat(self) -> Process:
        """With its ticks as they are in earnest."""
        return self.installation.start("beat", *CELERY, "beat", "-l", "info", "--pidfile=")

    # What may happen to a part

    def kill(self, part: str) -> None:
        if server := self.servers.get(part):
            kill(server)
        else:
            self.processes[part].kill_group()

    def start(self, part: str) -> None:
        if server := self.servers.get(part):
            start_again(server)
        else:
            self.processes[part] = self.starts[part]()

    def freeze(self, part: str) -> None:
        self.stopped = family(self._pid(part))
        signal_all(self.stopped, signal.SIGSTOP)

    def bring_back(self, part: str) -> None:
        """Thaw it, or start it again."""
        if self.stopped:
            self.close()
        else:
            self.start(part)

    def _pid(self, part: str) -> int:
        return pid(self.servers[part]) if part in self.servers else self.processes[part].process.pid

    # Who hears of it

    def health(self) -> tuple[int, dict[str, Any]]:
        """The answer of /healthz: its status, and its parts; status 0 where it does not answer."""
        connection = HTTPConnection("127.0.0.1", self.web_port, timeout=15)
        try:
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())["parts"]
        except (OSError, HTTPException):
            return 0, {}
        finally:
            connection.close()

    def successes(self) -> int:
        """How often the outside monitor has heard that all is well."""
        return self.monitor.paths().count(CHECK)

    def red(self) -> set[str]:
        return {name for name, part in self.health()[1].items() if not part["ok"]}

    def alerts(self) -> list[str]:
        """What the admin chat's phone shows, by the sandbox's own ledger."""
        return [message["text"] for message in self.installation.sandbox.sent_to(ADMIN_CHAT)]

    def told(self, icon: str) -> set[str]:
        """Of which parts the admin chat was told by alerts with the icon; of others the alert itself."""
        alerts = [alert for alert in self.alerts() if alert.startswith(icon)]
        return {next((part for part, title in _titles().items() if title.search(alert)), alert) for alert in alerts}

    def wait_until(self, is_so: Callable[[], bool], *, seconds: float, what: str) -> None:
        """An installation that waits in vain shows its logs; here also what people were told."""
        try:
            self.installation.wait_until(is_so, seconds=seconds, what=what)
        except AssertionError as error:
            raise AssertionError("\n---\n".join([str(error), f"red: {self.red()}", *self.alerts()])) from None

    def close(self) -> None:
        signal_all(self.stopped, signal.SIGCONT)
        self.stopped = []


def _titles() -> dict[str, re.Pattern[str]]:
    """How each part's alert begins, whatever the minutes; and how its end does."""
    with translation.override("uk"):
        texts = {rule.part: (gettext(rule.text).partition(". ")[0], gettext(rule.over)) for rule in RULES}
    return {
        part: re.compile("|".join(re.escape(text).replace("%s", r"\d+") for text in both))
        for part, both in texts.items()
    }
