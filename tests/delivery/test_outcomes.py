from datetime import timedelta

import pytest

from delivery import outcomes
from delivery.channels.base import Receipt
from delivery.models import Delivery
from delivery.outcomes import Verdict
from subscribers.telegram.outcomes import (
    ChannelError,
    ChatMoved,
    ChatRefused,
    ContentRefused,
    FileUnknown,
    Flooded,
    NotSent,
    OutcomeUnknown,
    RecipientGone,
    TokenRefused,
)

Status = Delivery.Status


class Unforeseen(ChannelError):
    pass


TABLE: list[tuple[ChannelError, Verdict]] = [
    (
        RecipientGone("Forbidden", left_reason="blocked"),
        Verdict(Status.SKIPPED, "blocked", is_gone=True, left_reason="blocked"),
    ),
    (RecipientGone("Can't initiate", left_reason=""), Verdict(Status.SKIPPED, "not started", is_gone=True)),
    (ChatMoved("moved", new_id=-100), Verdict(Status.PENDING, new_chat_id=-100, wait=timedelta(seconds=1))),
    (Flooded("429", wait=timedelta(seconds=30)), Verdict(Status.PENDING, flood_wait=timedelta(seconds=30))),
    (NotSent("refused"), Verdict(Status.PENDING, back_off="Telegram is out of reach")),
    (ContentRefused("can't parse"), Verdict(Status.PENDING, pause="Telegram refused the text: can't parse")),
    (TokenRefused("401"), Verdict(Status.PENDING, pause="Telegram refused the bot's token")),
    (ChatRefused(""), Verdict(Status.FAILED, "Telegram refused this chat")),
    (ChatRefused("no rights"), Verdict(Status.FAILED, "no rights")),
    (OutcomeUnknown("timed out"), Verdict(Status.UNKNOWN, "timed out")),
    (OutcomeUnknown(""), Verdict(Status.UNKNOWN, "no answer")),
    (Unforeseen("what"), Verdict(Status.UNKNOWN, "what")),
]


@pytest.mark.parametrize(("error", "verdict"), TABLE)
@pytest.mark.parametrize("file_id", ["", "handle"])
def test_every_error_has_its_verdict(error: ChannelError, file_id: str, verdict: Verdict) -> None:
    assert outcomes.verdict_on(error, file_id=file_id) == verdict


def test_a_handle_that_telegram_does_not_know_is_given_up() -> None:
    verdict = outcomes.verdict_on(FileUnknown("wrong file identifier"), file_id="old")

    assert verdict == Verdict(Status.PENDING, stale_file_id="old")


def test_bytes_that_telegram_does_not_take_as_a_file_pause() -> None:
    verdict = outcomes.verdict_on(FileUnknown("wrong file identifier"), file_id="")

    assert verdict == Verdict(Status.PENDING, pause="Telegram refused the picture: wrong file identifier")


def test_the_table_has_every_error_of_the_channel() -> None:
    handled = {type(error) for error, _ in TABLE}

    assert set(ChannelError.__subclasses__()) <= handled | {FileUnknown}


def test_a_handle_that_is_longer_than_its_column_is_not_kept() -> None:
    verdict = outcomes.sent(Receipt("77", file_id="h" * 201), is_new_file=True)

    assert verdict == Verdict(Status.SENT, message_id="77")


@pytest.mark.parametrize(("is_new_file", "file_id"), [(True, "h" * 200), (False, "")])
def test_a_handle_is_kept_when_it_was_uploaded_by_this_call(file_id: str, *, is_new_file: bool) -> None:
    verdict = outcomes.sent(Receipt("77", file_id="h" * 200), is_new_file=is_new_file)

    assert verdict == Verdict(Status.SENT, message_id="77", file_id=file_id)


def test_a_groups_flood_is_its_own() -> None:
    wait = timedelta(seconds=30)

    verdict = outcomes.verdict_on(Flooded("429", wait=wait), file_id="", is_group=True)

    assert verdict == Verdict(Status.PENDING, wait=wait)
