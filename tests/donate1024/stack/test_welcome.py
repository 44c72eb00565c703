"""The screen at the end of a start, from what is known alone: nothing runs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from donate1024.stack import welcome
from donate1024.stack.links import Links
from donate1024.stack.state import Place
from donate1024.stack.terminal import Terminal

PORTS = {"WEB_PORT": 8000, "FLOWER_PORT": 5555}
SANDBOX = PORTS | {"SANDBOX_PORT": 8081}
PASSWORD = "http://127.0.0.1:8000/admin/first/MQ/" + "d" * 40 + "/"
CHATS = dict.fromkeys(welcome.ROLES, f"https://t.me/donate_bot?start={'x' * 22}")
REFUSED = "Telegram refuses TELEGRAM_BOT_TOKEN: copy it anew from @BotFather into .env"
AWAY = "Telegram cannot be reached: nothing is sent or received until it can. Look at this machine's network"


def screen(capsys: pytest.CaptureFixture[str], links: Links, ports: dict[str, int] = PORTS) -> list[str]:
    place = Place(Path("/srv/donate1024"), {"FLOWER_BASIC_AUTH": f"flower:{'f' * 22}", "CURATOR_PASSWORD": "c" * 22})

    welcome.show(Terminal(), place, ports, links, now=datetime(2026, 12, 2, 8, 0, 7, tzinfo=UTC))

    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("links", "ports"),
    [
        (Links(CHATS, PASSWORD), PORTS),
        (Links(CHATS, ""), PORTS),
        (Links({}, PASSWORD, REFUSED), PORTS),
        (Links({}, PASSWORD, AWAY), PORTS),
        (Links(CHATS, ""), SANDBOX),
    ],
)
def test_the_screen_fits_a_small_terminal(
    capsys: pytest.CaptureFixture[str], links: Links, ports: dict[str, int]
) -> None:
    shown = screen(capsys, links, ports)[1:]  # a blank line comes first

    assert len(shown) < 24
    assert [line for line in shown if len(line.rstrip()) > 80] == []


@pytest.mark.parametrize(("why", "says"), [(REFUSED, "mend TELEGRAM_BOT_TOKEN in .env"), (AWAY, "mend the network")])
def test_what_is_in_the_way_comes_next(capsys: pytest.CaptureFixture[str], why: str, says: str) -> None:
    shown = "\n".join(screen(capsys, Links({}, PASSWORD, why)))

    assert shown.partition("Next: ")[2].startswith(says)
    assert why in shown.replace("\n", " ")


def test_the_sandbox_says_what_time_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert "own clock: 08:00, 2026-12-02." in "\n".join(screen(capsys, Links(CHATS, ""), SANDBOX))
