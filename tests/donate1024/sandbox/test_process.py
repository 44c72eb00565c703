"""The sandbox as a process: its one line, its end, its page."""

import re
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest
from telegram import Bot

import donate1024.sandbox
from tests.donate1024.sandbox.conftest import call, picture
from tests.sandbox_process import SandboxError, SandboxProcess

PAGE = Path(donate1024.sandbox.__file__).parent / "page"


def test_it_stops_at_once_though_somebody_polls(tmp_path: Path) -> None:
    with SandboxProcess(tmp_path) as sandbox:
        poll = threading.Thread(target=_poll, args=[sandbox.url])
        poll.start()
        time.sleep(0.3)
        began = time.monotonic()

        sandbox.stop()

        poll.join()
        assert (sandbox.process.returncode, time.monotonic() - began < 10) == (0, True)


def _poll(url: str) -> None:
    with pytest.raises(ConnectionError):
        call(url, "getUpdates", timeout=30)


def test_it_listens_on_this_machine_only(shared: SandboxProcess) -> None:
    port = int(shared.url.rpartition(":")[2])

    with socket.socket() as elsewhere, pytest.raises(ConnectionRefusedError):
        elsewhere.connect(("127.0.0.2", port))


def test_a_second_one_on_the_same_state_is_refused(tmp_path: Path) -> None:
    with SandboxProcess(tmp_path), pytest.raises(SandboxError):
        SandboxProcess(tmp_path)


def test_a_busy_port_is_named(shared: SandboxProcess, tmp_path: Path) -> None:
    port = shared.url.rpartition(":")[2]
    command = [sys.executable, "-m", "donate1024.sandbox", "--port", port, "--state", str(tmp_path)]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (1, "")
    assert port in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_it_imports_nothing_of_ours() -> None:
    code = "import sys, donate1024.sandbox.__main__; print(*{name.partition('.')[0] for name in sys.modules})"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"django", "celery", "posts", "subscribers", "delivery"} & set(loaded)


@pytest.mark.parametrize("path", ["/", "/page/phones.css", "/page/phones.js"])
def test_the_page_of_phones_is_served(shared: SandboxProcess, path: str) -> None:
    connection = HTTPConnection(shared.url.removeprefix("http://"))
    connection.request("GET", path)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()

    assert (answer.status, len(content) > 500) == (200, True)


def test_the_page_asks_no_other_host_and_trusts_no_text() -> None:
    source = "\n".join(file.read_text() for file in PAGE.iterdir() if file.suffix in {".html", ".css", ".js"})

    assert not re.findall(r"(?:src|href|url|fetch|import)\W{1,3}(?:https?:)?//(?!www\.w3\.org)", source)
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", source)


async def test_a_phone_gets_the_picture(shared: SandboxProcess, bot: Bot, chat: int) -> None:
    sent = await bot.send_photo(chat, picture(kind="PNG"))
    connection = HTTPConnection(shared.url.removeprefix("http://"))
    connection.request("GET", f"/control/file/{sent.photo[-1].file_id}")
    answer = connection.getresponse()
    content = answer.read()
    connection.close()

    assert (answer.getheader("Content-Type"), content) == ("image/png", picture(kind="PNG"))


def test_the_people_who_wrote_last_are_found_again(sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": person} for person in (1, 2, 3, 4)])
    for person in (3, 1, 4):
        sandbox.post("/control/say", {"chat_id": person, "text": "/start"})

    found = sandbox.get("/control/chats?wrote_last=2")

    assert [chat["chat_id"] for chat in found] == [4, 1]
    assert len(sandbox.get("/control/chats")) == 4


def test_the_page_hears_only_of_what_is_new(sandbox: SandboxProcess) -> None:
    sandbox.post("/control/chats", [{"chat_id": 1, "first_name": "Оля <3"}])
    first = sandbox.get("/control/phones?chat_id=1,2")

    nothing = sandbox.get(f"/control/phones?chat_id=1,2&seen={first['version']}")
    call(sandbox.url, "sendMessage", chat_id=1, text="x")
    call(sandbox.url, "sendMessage", chat_id=2, text="x")
    second = sandbox.get(f"/control/phones?chat_id=1,2&seen={first['version']}")

    assert (nothing, [phone["chat"]["first_name"] for phone in first["phones"]]) == (None, ["Оля <3"])
    assert [message["text"] for message in second["phones"][0]["messages"]] == ["x"]
    assert (second["accepted"], second["refused"]) == (1, 1)


@pytest.mark.parametrize(("origin", "status"), [("https://evil.example", 403), ("", 200)])
def test_another_sites_page_cannot_use_the_control(sandbox: SandboxProcess, origin: str, status: int) -> None:
    connection = HTTPConnection(sandbox.url.removeprefix("http://"), timeout=10)
    connection.request("POST", "/control/chats", "[]", {"Origin": origin or sandbox.url, "Content-Type": "text/plain"})

    answered = connection.getresponse().status

    connection.close()
    assert answered == status
