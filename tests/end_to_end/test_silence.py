"""A part dies, or freezes, with nobody to bring it back: people hear of it within three minutes, and of its return."""

import logging
from collections.abc import Callable, Iterator
from time import monotonic

import pytest

from donate1024.stack.embedded import Postgres, Valkey
from tests.end_to_end.installation import Installation
from tests.end_to_end.watching import Watched
from tests.http_peer import HttpPeer

logger = logging.getLogger(__name__)

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(900)]

WITHIN = 180.0  # seconds
A_LOOK = 60.0  # seconds, in which the outside monitor hears of us as long as all is well
RECOVERED_WITHIN = 240.0  # seconds
# Of what people hear when a part dies.
CONDITIONS = {
    "beat": {"beat"},
    "telegram": {"queue:telegram"},
    "default": {"queue:default"},
    "bot": {"bot"},
    "web": {"web"},
    "valkey": {"valkey"},
    "postgres": {"database"},
}


@pytest.fixture
def watched(installation: Installation, postgres: Postgres, valkey: Valkey) -> Iterator[Watched]:
    with HttpPeer() as monitor:
        watched = Watched(installation, postgres, valkey, monitor)
        yield watched
        watched.close()


def frozen(watched: Watched, part: str) -> None:
    watched.freeze(part)


def killed(watched: Watched, part: str) -> None:
    watched.kill(part)


def test_a_database_that_freezes_is_told_and_so_is_its_thaw(watched: Watched) -> None:
    watched.wait_until(lambda: watched.health()[0] == 200, seconds=60, what="all to be well")
    watched.processes["bot"].wait_for("The bot listens")
    watched.processes["beat"].wait_for("The clocks of this host and of the database agree")

    watched.freeze("postgres")
    watched.wait_until(lambda: "database" in watched.told("🔴"), seconds=WITHIN, what="an alert")
    status, parts = watched.health()
    watched.bring_back("postgres")
    watched.wait_until(lambda: "database" in watched.told("✅"), seconds=WITHIN, what="news of its return")

    assert (status, parts["database"]["ok"], parts["valkey"]["ok"]) == (503, False, True)
    assert watched.told("🔴") == watched.told("✅") == {"database"}


@pytest.mark.long
@pytest.mark.parametrize("strike", [killed, frozen])
@pytest.mark.parametrize("part", CONDITIONS)
def test_silence_is_told_within_three_minutes_and_so_is_its_end(
    watched: Watched, part: str, strike: Callable[[Watched, str], None]
) -> None:
    watched.wait_until(lambda: watched.successes() > 1, seconds=240, what="two looks that found nothing")
    assert watched.health()[0] == 200
    assert watched.alerts() == []

    began = monotonic()
    strike(watched, part)
    watched.wait_until(lambda: watched.told("🔴") >= CONDITIONS[part], seconds=WITHIN, what=f"news of {part}")
    logger.info("%s %s: told after %.0f s", part, strike.__name__, monotonic() - began)

    assert watched.health()[0] == (503 if part != "web" else 0)
    now, before = monotonic(), watched.successes()
    watched.wait_until(lambda: monotonic() > now + A_LOOK, seconds=2 * A_LOOK, what="a look's time to pass")
    assert watched.successes() == before
    back = monotonic()
    watched.bring_back(part)
    watched.wait_until(
        lambda: watched.told("✅") >= CONDITIONS[part], seconds=RECOVERED_WITHIN, what=f"news of {part}'s return"
    )
    logger.info("%s %s: its return told after %.0f s", part, strike.__name__, monotonic() - back)

    watched.wait_until(lambda: watched.health()[0] == 200, seconds=RECOVERED_WITHIN, what="/healthz to be well")
    watched.wait_until(lambda: watched.successes() > before, seconds=RECOVERED_WITHIN, what="a look that finds nothing")
    assert watched.told("🔴") == watched.told("✅") == CONDITIONS[part]
    assert len(watched.alerts()) == 2 * len(CONDITIONS[part])
