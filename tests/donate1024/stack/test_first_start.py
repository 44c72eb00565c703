"""`make run` with a token for the first time, as somebody goes through its screen. The tests build on each other."""

import re
import stat
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from tests.donate1024.stack.running import Run
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.end_to_end

TOKEN = "4096:the-right-one-" + "A" * 24
BOT, OLIA, TARAS = 4096, 101, 102
PASSWORD = "шість-слонів-на-даху"
START = r"https://t\.me/\w+_bot\?start=([\w-]{22})\n"


@pytest.fixture(scope="module")
def telegram(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    with SandboxProcess(tmp_path_factory.mktemp("telegram"), tokens=[TOKEN]) as telegram:
        people = [{"chat_id": OLIA, "first_name": "Оля"}, {"chat_id": TARAS, "first_name": "Тарас"}]
        telegram.post("/control/chats", [person | {"language_code": "en"} for person in people])
        yield telegram


@pytest.fixture(scope="module")
def run(telegram: SandboxProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    state = tmp_path_factory.mktemp("run") / "state"
    with Run(state, TELEGRAM_BOT_TOKEN=TOKEN, TELEGRAM_API_URL=telegram.url, COLUMNS="80") as run:
        run.wait_for("Next: ")
        yield run


def password_address(run: Run) -> str:
    (address,) = re.findall(r"^  (http://\S+/admin/first/\S+/)$", run.said.read_text(), re.MULTILINE)
    return str(address)


def payloads(run: Run) -> list[str]:
    """The curator's, then the operator's."""
    found = re.findall(START, run.said.read_text())
    assert len(found) == 2
    return found


def start(telegram: SandboxProcess, chat_id: int, payload: str) -> None:
    """Open the link t.me/...?start=PAYLOAD on somebody's phone."""
    telegram.post("/control/say", {"bot_id": BOT, "chat_id": chat_id, "text": f"/start {payload}"})


def answer_to(run: Run, telegram: SandboxProcess, chat_id: int, number: int = 1) -> str:
    run.until(lambda: len(telegram.sent_to(chat_id)) >= number)
    return str(telegram.sent_to(chat_id)[number - 1]["text"])


def choose(address: str, browser: OpenerDirector) -> str:
    """The page after the form of that address was filled in and sent."""
    with browser.open(address) as page:
        form, at = str(page.read().decode()), str(page.url)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
    if token is None:
        return form
    fields = {"csrfmiddlewaretoken": token[1], "new_password1": PASSWORD, "new_password2": PASSWORD}
    with browser.open(at, urlencode(fields).encode()) as page:
        return str(page.url)


def browser() -> OpenerDirector:
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    opener.addheaders = [("Accept-Language", "en")]
    return opener


def test_the_screen_says_all_that_somebody_needs_on_the_first_day(run: Run) -> None:
    screen = run.said.read_text()
    secrets = run.state / "secrets.env"

    assert re.search(r"the real bot @\w+_bot\)", screen)
    assert str(secrets) in screen
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert "off until you do" in screen
    assert "HEARTBEAT_URL" in screen
    assert "Ctrl-C" in screen
    assert TOKEN not in screen


def test_in_a_narrow_terminal_no_line_is_broken(run: Run) -> None:
    screen = run.said.read_text().partition("donate1024 is running")[2]

    own = [line for line in screen.splitlines()[1:] if str(run.state) not in line]

    assert [line for line in own if len(line.rstrip()) > 80] == []


def test_the_link_makes_an_admin_chat_once(run: Run, telegram: SandboxProcess) -> None:
    _, operators = payloads(run)

    start(telegram, OLIA, operators)
    told = answer_to(run, telegram, OLIA)
    start(telegram, TARAS, operators)

    assert "operator" in told
    assert "Good to have you with us, Тарас" in answer_to(run, telegram, TARAS)
    linked = "from subscribers.admin_chats import *; print(chat_ids(), operators())"
    assert run.manage("shell", "-v0", "-c", linked) == f"[{OLIA}] {{{OLIA}}}\n"


def test_the_printed_address_sets_the_password_once(run: Run) -> None:
    address = password_address(run)

    ends_at = choose(address, browser())
    refused = choose(address, browser())

    assert ends_at.endswith("/admin/")
    assert "has done its work" in refused


def test_the_next_start_makes_new_links_revokes_the_old_and_asks_for_no_password(
    run: Run, telegram: SandboxProcess
) -> None:
    before, _ = payloads(run)
    run.process.terminate()
    run.process.wait(90)

    run.start()
    run.wait_for("Next: ")
    after, _ = payloads(run)
    start(telegram, TARAS, before)
    refused = answer_to(run, telegram, TARAS, 2)
    start(telegram, TARAS, after)

    assert "/admin/first/" not in run.said.read_text()
    assert "Good to have you with us" in refused
    assert "curator" in answer_to(run, telegram, TARAS, 3)


def test_no_link_stands_in_a_log_or_a_file(run: Run) -> None:
    told = [*payloads(run), "admin/first/MQ/d"]

    written = [file for file in run.state.rglob("*") if file.is_file() and "postgres" not in file.parts]

    assert (run.state / "logs" / "web.log") in written
    assert [(file.name, secret) for file in written for secret in told if secret.encode() in file.read_bytes()] == []


def test_a_dead_token_is_named_on_the_screen_and_the_rest_runs(telegram: SandboxProcess, tmp_path: Path) -> None:
    dead = "4097:" + "A" * 35

    with Run(tmp_path / "state", TELEGRAM_BOT_TOKEN=dead, TELEGRAM_API_URL=telegram.url) as run:
        run.wait_for("Next: ")

        assert "Telegram refuses TELEGRAM_BOT_TOKEN" in run.said.read_text()
        assert "/admin/first/" in run.said.read_text()
        assert "t.me/" not in run.said.read_text()
        assert run.status("WEB_PORT", "/admin/login/") == 200
