"""No direct way to Telegram, only a proxy: everything goes through it, and comes back when it does."""

from collections import Counter
from collections.abc import Iterator
from time import monotonic, sleep

import pytest

from subscribers.bot.trouble import LONGEST_PAUSE
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser
from tests.proxy_peer import PASSWORD, ProxyPeer
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end

CLOSED = "http://127.0.0.1:9"
RECOVERS_WITHIN = 120  # seconds
DEAF = "The bot does not reach Telegram"


@pytest.fixture
def proxy(installation: Installation) -> Iterator[ProxyPeer]:
    for name in ("no_proxy", "NO_PROXY"):
        installation.env.pop(name, None)
    with ProxyPeer(installation.sandbox.url) as proxy:
        installation.env |= {"TELEGRAM_API_URL": CLOSED, "HTTP_PROXY": proxy.url, "http_proxy": proxy.url}
        yield proxy
        installation.close()


@pytest.fixture
def talk(installation: Installation, proxy: ProxyPeer) -> Talk:
    return Talk(installation)


@pytest.fixture
def curator(installation: Installation, talk: Talk) -> int:
    """The admin chat."""
    chat = talk.meet("Оксана")
    installation.env["TELEGRAM_ADMIN_CHATS"] = str(chat)
    return chat


def hear(talk: Talk) -> float:
    """For how many seconds somebody who writes now waits for the answer."""
    began = monotonic()
    person = talk.meet()
    talk.say(person, "/start")
    talk.replies(person, seconds=RECOVERS_WITHIN)
    return monotonic() - began


def told(talk: Talk, chat: int) -> list[str]:
    return [message["text"].partition(".")[0] for message in talk.sandbox.sent_to(chat)]


def test_bot_and_workers_go_through_the_proxy_and_outlive_its_cut(
    installation: Installation, proxy: ProxyPeer, talk: Talk, curator: int
) -> None:
    people = installation.add_people(20)
    make_fundraiser()
    bot = talk.start_bot()
    installation.worker()
    hear(talk)

    assert installation.manage("broadcast", "start", "--now").returncode == 0
    installation.wait_for_status("finished")
    proxy.cut()
    sleep(20)
    proxy.mend()
    hear(talk)

    assert installation.served().keys() >= {*people}
    assert max(installation.served().values()) == 1
    reached = Counter(call["method"] for call in installation.sandbox.get("/control/calls"))
    assert reached <= Counter(proxy.asked)
    assert {"getUpdates", "sendMessage", "getMyCommands", "setMyCommands"} <= reached.keys()
    assert proxy.intruders == 0
    assert told(talk, curator) == []
    assert " ERROR " not in bot.written()
    assert PASSWORD not in installation.written()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_proxy_that_is_cut_in_mid_run_costs_nobody_their_message(
    installation: Installation, proxy: ProxyPeer, talk: Talk
) -> None:
    people = installation.add_people(400)
    make_fundraiser()
    talk.start_bot()
    installation.worker()
    installation.beat()
    assert installation.manage("broadcast", "start", "--now").returncode == 0
    installation.wait_until(lambda: len(installation.served()) >= 50, what="a part of the run")

    proxy.cut()
    sleep(90)
    proxy.mend()
    waited = hear(talk)
    books = installation.wait_for_status("finished", seconds=600)

    assert waited < RECOVERS_WITHIN
    assert max(installation.served().values()) == 1
    assert books["counts"]["sent"] + books["counts"].get("unknown", 0) >= len(people)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", ["is cut", "refuses"])
def test_a_deaf_bot_is_told_once_and_hears_within_two_minutes_of_the_return(
    installation: Installation, proxy: ProxyPeer, talk: Talk, curator: int, way: str
) -> None:
    bot = talk.start_bot()
    hear(talk)
    if way == "is cut":
        proxy.cut()
    else:
        proxy.is_refusing = True

    bot.wait_for(DEAF, seconds=180)
    sleep(LONGEST_PAUSE)  # it goes on asking, and tells nothing more
    proxy.is_refusing = False
    proxy.mend()
    waited = hear(talk)

    assert waited < RECOVERS_WITHIN
    assert bot.written().count(DEAF) == 1
    installation.wait_until(lambda: len(told(talk, curator)) == 2, seconds=120, what="the alert and its end")
