"""The dead-man's switch: a monitor outside this machine hears of each look at the parts, and tells when it does not.

It speaks Healthchecks' protocol: https://healthchecks.io/docs/http_api/
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal
from uuid import UUID, uuid4

import aiohttp
from django.conf import settings
from django.utils.translation import gettext_noop
from yarl import URL

from posts.event_loop import run_without_waiting
from posts.redaction import redact
from subscribers.telegram.transport import proxy_for

logger = logging.getLogger(__name__)

ANSWER_WITHIN = 5.0  # seconds for each of a look's two pings
LONGEST_LOG = 100_000  # bytes; Healthchecks drops the rest
MISSES_WORTH_AN_ALERT = 3
CONDITION = "outside_monitor"

Signal = Literal["start", "success", "fail", "log"]


class NotHeard(Exception):
    """The monitor did not take a ping; the message says why, without its address."""


class Hearing:
    """Whether the monitor hears the looks: told after three misses in a row, and when they are over."""

    def __init__(self) -> None:
        self.misses: int | None = None  # not known: an alert may be open

    def heard(self) -> None:
        if self.misses != 0:
            logger.info("The outside monitor hears from us", extra={"closes": CONDITION})
        self.misses = 0

    def missed(self, error: NotHeard) -> None:
        self.misses = (self.misses or 0) + 1
        if self.misses == MISSES_WORTH_AN_ALERT:
            logger.error(
                gettext_noop(
                    "The outside monitor does not hear from this installation (%s). "
                    "Should the whole machine fall silent now, nobody would tell you. "
                    "What to do: see whether its page is reachable and its check still exists; HEARTBEAT_URL names it."
                ),
                error,
                extra={"opens": CONDITION},
            )


@contextmanager
def watched(hearing: Hearing) -> Iterator[list[str]]:
    """Tell the monitor that a look begins, and how it ended: well, or with the faults that the block has added.

    Costs 10 s at most, raises nothing of its own, and does nothing where HEARTBEAT_URL is not set. What the block
    raises is told as a fault, and goes on.
    """
    faults: list[str] = []
    if not settings.HEARTBEAT_URL:
        yield faults
        return
    run = uuid4()
    _tell("start", run=run)
    try:
        yield faults
    except BaseException as error:
        faults.append(f"The look at the parts was cut short: {type(error).__name__}")
        raise
    finally:
        if missed := _tell("fail" if faults else "success", run=run, log="\n".join(faults)):
            hearing.missed(missed)
        else:
            hearing.heard()


def ping(signal: Signal, *, run: UUID, log: str = "") -> None:
    """Send one ping, redacted and shortened.

    Raises:
        NotHeard: it was not taken within 5 s.
    """
    run_without_waiting(_post(signal, run=run, log=log))


def _tell(signal: Signal, *, run: UUID, log: str = "") -> NotHeard | None:
    try:
        ping(signal, run=run, log=log)
    except NotHeard as error:
        return error
    return None


async def _post(signal: Signal, *, run: UUID, log: str) -> None:
    body = redact(log).encode()[:LONGEST_LOG].decode(errors="ignore")
    timeout = aiohttp.ClientTimeout(total=ANSWER_WITHIN)
    try:
        url = _address(signal, run=run)
        async with (
            aiohttp.ClientSession(timeout=timeout, proxy=proxy_for(settings.HEARTBEAT_URL)) as session,
            session.post(url, data=body, allow_redirects=False) as answer,
        ):
            said = (await answer.content.read(100)).decode(errors="replace")
            _check(answer.status, said)
    except TimeoutError:
        raise NotHeard(f"no answer within {ANSWER_WITHIN:.0f} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:  # their texts repeat the address
        raise NotHeard(type(error).__name__) from None


def _address(signal: Signal, *, run: UUID) -> URL:
    url = URL(settings.HEARTBEAT_URL)
    target = url if signal == "success" else url / signal
    return target.with_query([*url.query.items(), ("rid", str(run))])


def _check(status: int, said: str) -> None:
    """Healthchecks answers 200 also where it knows no such check: "OK (not found)", "OK (rate limited)"."""
    if said.startswith("OK ("):
        raise NotHeard(f"it answered «{said.strip()}»")
    if status != 200:
        raise NotHeard(f"it answered {status}")
