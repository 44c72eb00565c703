"""Everything of an installation that somebody may read, as text: where a secret could have come to stand."""

import json
import re
import urllib.error
from base64 import b64encode
from http.cookiejar import CookieJar
from urllib.parse import quote, urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, ProxyHandler, Request, build_opener

from donate1024.stack.embedded import Valkey
from tests.donate1024.stack.running import Run

Places = dict[str, str]
PAGES_MOST = 150


def logs_of(run: Run) -> Places:
    return {file.name: file.read_text(errors="replace") for file in (run.state / "logs").glob("*")}


def arguments_of(run: Run) -> Places:
    """What `ps` shows to everybody on the machine."""
    return {f"arguments of {number}": line for number, line in run.everybody().items()}


def flower_of(run: Run, login: str) -> Places:
    """Its pages, the ones of each worker and of each failed task too, and its API."""
    opener = _opener()
    opener.addheaders = [("Authorization", f"Basic {b64encode(login.encode()).decode()}")]
    site = f"http://127.0.0.1:{run.ports['FLOWER_PORT']}"
    workers: dict[str, dict[str, object]] = {}

    def have_answered() -> bool:
        """Flower gives them a second, and shows the configuration only of those that have answered."""
        workers.update(json.loads(_read(opener, f"{site}/api/workers?refresh=1")))
        return len(workers) > 1 and all("conf" in worker for worker in workers.values())

    run.until(have_answered)
    failed = json.loads(_read(opener, f"{site}/api/tasks?state=FAILURE"))
    paths = ["/", "/tasks", "/broker", "/metrics", "/api/tasks", "/api/queues/length", "/api/workers"]
    paths += [f"/worker/{quote(name)}" for name in workers] + [f"/task/{task}" for task in failed]
    paths += [f"/api/task/info/{task}" for task in failed]
    return {f"flower's {path}": _read(opener, site + path) for path in paths}


class Desk:
    """The web process, read by somebody who is logged in."""

    def __init__(self, run: Run) -> None:
        self.site = f"http://127.0.0.1:{run.ports['WEB_PORT']}"
        self.cookies = CookieJar()
        self.opener = _opener(HTTPCookieProcessor(self.cookies))

    def log_in(self, name: str, password: str) -> str:
        """The page that came of it."""
        address = f"{self.site}/admin/login/"
        _read(self.opener, address)
        token = next(cookie.value for cookie in self.cookies if cookie.name == "csrftoken")
        fields = {"username": name, "password": password, "csrfmiddlewaretoken": token or "", "next": "/admin/"}
        return _read(self.opener, address, urlencode(fields).encode())

    def pages(self) -> Places:
        """Every page to which links lead, lists unfiltered."""
        found: Places = {}
        paths = ["/admin/", "/", "/healthz", "/livez"]
        for path in paths:  # it grows
            page = found[f"the site's {path}"] = _read(self.opener, self.site + path)
            links = sorted({*re.findall(r'href="(/admin/[^"#?]*)"', page)} - {*paths, "/admin/logout/"})
            paths += links[: PAGES_MOST - len(paths)]
        return found


def kept_in(valkey: Valkey) -> Places:
    """Each command that ever changed a key, as Valkey appends it to its file: what is gone again, too."""
    return {file.name: file.read_text(errors="replace") for file in valkey.data.rglob("*.aof")}


def _opener(*handlers: HTTPCookieProcessor) -> OpenerDirector:
    return build_opener(ProxyHandler({}), *handlers)


def _read(opener: OpenerDirector, address: str, body: bytes | None = None) -> str:
    """The page, also of a refusal or an error."""
    try:
        with opener.open(Request(address, body), timeout=60) as answer:  # noqa: S310 -- ours
            return str(answer.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        with error:
            return error.read().decode(errors="replace")
