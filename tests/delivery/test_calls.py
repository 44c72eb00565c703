"""Each claim becomes one call, or is given back unbegun."""

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from time import monotonic
from typing import Any, Protocol
from uuid import uuid4

import pytest

from delivery import reasons
from delivery.calls import Calls
from delivery.channels.telegram import FrozenMessage, TelegramChannel
from delivery.ledger import Claim
from delivery.outcomes import GIVEN_BACK, Verdict
from delivery.recording import Answer
from delivery.window import Window
from subscribers.telegram.client import open_bot
from tests.delivery.slices import fault, served
from tests.factories import image_bytes
from tests.sandbox_process import SandboxProcess

_chats = count(7001)


class MakeClaim(Protocol):
    def __call__(self, *, is_group: bool = False) -> Claim: ...


@pytest.fixture
async def calls(telegram: SandboxProcess) -> AsyncIterator[Calls]:
    async with open_bot(connections=10) as bot:
        buttons: list[list[dict[str, object]]] = [[{"text": "Підтримати", "url": "https://send.monobank.ua/jar/A"}]]
        message = FrozenMessage("Збір", buttons)
        yield Calls(TelegramChannel(bot, message), Window(per_second=100, slices=1))


@pytest.fixture
def make_claim(telegram: SandboxProcess) -> MakeClaim:
    def make(*, is_group: bool = False) -> Claim:
        chat = -next(_chats) if is_group else next(_chats)
        telegram.post("/control/chats", [{"chat_id": chat, "type": "group" if is_group else "private"}])
        return Claim(chat, chat, chat, uuid4(), datetime.now(UTC))

    return make


async def verdicts(calls: Calls, claims: list[Claim]) -> list[Verdict]:
    """What became of the claims, in their order."""
    while calls:
        await calls.wait_for_answer(seconds=0.1)
    by_claim = {answer.claim.delivery_id: answer.verdict for answer in calls.take_answers()}
    return [by_claim[claim.delivery_id] for claim in claims]


def test_answers_that_could_not_be_recorded_come_before_the_later_ones(calls: Calls, make_claim: MakeClaim) -> None:
    first, second, third = (Answer(make_claim(), GIVEN_BACK, is_probe=False) for _ in range(3))
    calls.answers = [third]

    calls.keep([first, second])

    assert calls.take_answers() == [first, second, third]


async def test_a_call_begins_after_its_permit(calls: Calls, make_claim: MakeClaim) -> None:
    claim, begun = make_claim(), monotonic()

    calls.begin(claim, claimed=begun, after=0.2, is_probe=False)
    (verdict,) = await verdicts(calls, [claim])

    assert verdict.status == "sent"
    assert monotonic() - begun > 0.2


async def test_a_claim_that_took_more_than_a_second_is_given_back(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess
) -> None:
    claim = make_claim()

    calls.begin(claim, claimed=monotonic() - 1.01, after=0, is_probe=False)

    assert await verdicts(calls, [claim]) == [GIVEN_BACK]
    assert served(telegram, [claim.chat_id]) == [0]


async def test_what_a_blocked_loop_kept_waiting_for_more_than_a_second_is_given_back(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess
) -> None:
    claims = [make_claim(), make_claim()]
    for claim in claims:
        calls.begin(claim, claimed=monotonic(), after=0.01, is_probe=False)

    time.sleep(1.1)  # noqa: ASYNC251 -- that is the block

    assert await verdicts(calls, claims) == [GIVEN_BACK] * 2
    assert served(telegram, [claim.chat_id for claim in claims]) == [0, 0]


async def test_what_waits_for_its_moment_when_the_worker_is_told_to_stop_is_given_back(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess, stop: Callable[[], None]
) -> None:
    claim = make_claim()
    calls.begin(claim, claimed=monotonic(), after=0.1, is_probe=False)

    stop()

    assert await verdicts(calls, [claim]) == [GIVEN_BACK]
    assert served(telegram, [claim.chat_id]) == [0]


@pytest.mark.parametrize("refusal", [{"status": 429, "retry_after": 5}, {"status": 401}])
async def test_what_was_claimed_before_a_brake_is_given_back_also_when_the_brake_is_being_recorded(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess, refusal: dict[str, int]
) -> None:
    first, waiting = make_claim(), make_claim()
    fault(telegram, refusal, chat_id=first.chat_id)
    calls.begin(first, claimed=monotonic(), after=0, is_probe=False)
    calls.begin(waiting, claimed=monotonic(), after=0.4, is_probe=False)

    await calls.wait_for_answer(seconds=5)
    calls.take_answers()

    assert await verdicts(calls, [waiting]) == [GIVEN_BACK]
    assert served(telegram, [waiting.chat_id]) == [0]


async def test_what_is_claimed_after_a_brake_is_called(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess
) -> None:
    first, later = make_claim(), make_claim()
    fault(telegram, {"status": 429, "retry_after": 5}, chat_id=first.chat_id)
    calls.begin(first, claimed=monotonic(), after=0, is_probe=False)
    await calls.wait_for_answer(seconds=5)
    calls.take_answers()

    calls.begin(later, claimed=monotonic(), after=0, is_probe=True)

    (verdict,) = await verdicts(calls, [later])
    assert verdict.status == "sent"


async def test_only_a_probe_takes_the_picture_along(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess
) -> None:
    probe, other, after = make_claim(), make_claim(), make_claim()
    calls._channel.message = replace(calls._channel.message, picture=image_bytes())

    calls.begin(probe, claimed=monotonic(), after=0, is_probe=True)
    calls.begin(other, claimed=monotonic(), after=0, is_probe=False)
    uploaded, given_back = await verdicts(calls, [probe, other])
    calls.begin(after, claimed=monotonic(), after=0, is_probe=False)
    (by_handle,) = await verdicts(calls, [after])

    assert (uploaded.status, given_back, by_handle.status) == ("sent", GIVEN_BACK, "sent")
    assert uploaded.file_id
    assert by_handle.file_id == ""
    assert [message["uploaded"] for message in telegram.sent_to(after.chat_id)] == [False]


async def test_the_window_follows_how_long_the_answers_take(
    calls: Calls, make_claim: MakeClaim, telegram: SandboxProcess
) -> None:
    async def cap_after_answers() -> int:
        claims = [make_claim() for _ in range(20)]
        for claim in claims:
            calls.begin(claim, claimed=monotonic(), after=0, is_probe=False)
        await verdicts(calls, claims)
        return calls._window.cap

    quick = await cap_after_answers()
    fault(telegram, {"delay": 0.4}, method="sendMessage", times=0)
    slow = await cap_after_answers()

    assert quick < slow == calls._window.most


ANSWERS: dict[str, Any] = {
    "?": {"status": 502},
    "x": {"status": 400, "description": "Bad Request: not enough rights"},
    "g": {"status": 429, "retry_after": 7},  # to a group
}


@pytest.mark.parametrize(
    ("answers", "last"),
    [
        ("?", (None, "", "")),
        ("..?", (None, "", "")),
        ("??", (None, reasons.NO_ANSWERS, "")),
        (".?.?.?", (None, reasons.NO_ANSWERS, "")),
        (".?.?..", (None, "", "")),
        ("?.?.......?", (None, "", "")),  # the first is the eleventh from the end
        ("?.?......?", (None, reasons.NO_ANSWERS, "")),
        ("?.?.?.", (None, "", "")),  # an answer that came well is no sign of anything
        (".xx", (None, "", "")),
        ("xx.x", (None, "", "")),
        ("xxx", (None, "", f"{reasons.CHATS_REFUSED}: Not enough rights")),
        ("g", (None, "", "")),
        ("g.g", (None, "", "")),
        ("gg", (timedelta(seconds=7), "", "")),
    ],
)
async def test_what_one_answer_after_the_other_says_about_everybody(
    calls: Calls,
    make_claim: MakeClaim,
    telegram: SandboxProcess,
    answers: str,
    last: tuple[timedelta | None, str, str],
) -> None:
    for answer in answers:
        claim = make_claim(is_group=answer == "g")
        if answer in ANSWERS:
            fault(telegram, ANSWERS[answer], chat_id=claim.chat_id)
        calls.begin(claim, claimed=monotonic(), after=0, is_probe=False)
        (verdict,) = await verdicts(calls, [claim])

    assert (verdict.flood_wait, verdict.back_off, verdict.pause) == last
