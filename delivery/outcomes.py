"""What the answer to one call means: for its row, for its subscriber, for the whole broadcast."""

from dataclasses import dataclass
from datetime import timedelta

from delivery import reasons
from delivery.channels.base import Receipt
from delivery.models import Delivery
from subscribers.telegram.outcomes import (
    LONGEST,
    ChannelError,
    ChatMoved,
    ChatRefused,
    ContentRefused,
    FileUnknown,
    Flooded,
    NotSent,
    RecipientGone,
    TokenRefused,
)

Status = Delivery.Status


@dataclass(frozen=True, slots=True)
class Verdict:
    status: Delivery.Status
    reason: str = ""
    message_id: str = ""
    file_id: str = ""  # newly uploaded
    is_gone: bool = False  # Telegram knows nobody there for us
    left_reason: str = ""  # then the subscriber left, and why; empty where that is no proof
    new_chat_id: int | None = None
    stale_file_id: str = ""  # Telegram does not know this handle of the picture any more
    wait: timedelta = timedelta(0)  # this row is left alone for so long
    flood_wait: timedelta | None = None  # nobody is written to for so long, replies included; then one probe
    back_off: str = ""  # nobody is written to for a while, and why; then one probe
    pause: str = ""  # nobody is written to until a person has looked, and why

    @property
    def is_groups_flood(self) -> bool:
        """Whether one chat met a limit of its own; the others may be written to."""
        return bool(self.wait) and self.new_chat_id is None

    @property
    def is_brake(self) -> bool:
        """Whether it stops, for a time or until a person comes, everybody's messages."""
        return self.flood_wait is not None or bool(self.back_off or self.pause)


GIVEN_BACK = Verdict(Status.PENDING)  # claimed, and never begun


def sent(receipt: Receipt, *, is_new_file: bool) -> Verdict:
    # Cut short it would name nothing: a handle that is longer than its column serves this slice alone.
    is_kept = is_new_file and len(receipt.file_id) <= LONGEST
    return Verdict(Status.SENT, message_id=receipt.message_id, file_id=receipt.file_id if is_kept else "")


def verdict_on(error: ChannelError, *, file_id: str, is_group: bool = False) -> Verdict:  # noqa: C901 -- a table
    """The row of the table of outcomes: only what is known not to have been sent becomes pending again.

    `file_id` is the handle that the call used for its picture; empty where it sent the bytes. A group has a flood limit
    of its own: its 429 says nothing about the others.
    """
    match error:
        case RecipientGone(left_reason=left_reason):
            return Verdict(Status.SKIPPED, left_reason or reasons.NOT_STARTED, is_gone=True, left_reason=left_reason)
        case ChatMoved(new_id=new_id):
            # A second, so that ids in a circle are no loop at full pace.
            return Verdict(Status.PENDING, new_chat_id=new_id, wait=timedelta(seconds=1))
        case Flooded(wait=wait) if is_group:
            return Verdict(Status.PENDING, wait=wait)
        case Flooded(wait=wait):
            return Verdict(Status.PENDING, flood_wait=wait)
        case NotSent():
            return Verdict(Status.PENDING, back_off=reasons.OUT_OF_REACH)
        case ContentRefused():
            return Verdict(Status.PENDING, pause=f"{reasons.TEXT_REFUSED}: {error}")
        case FileUnknown() if file_id:
            return Verdict(Status.PENDING, stale_file_id=file_id)
        case FileUnknown():
            return Verdict(Status.PENDING, pause=f"{reasons.PICTURE_REFUSED}: {error}")
        case TokenRefused():
            return Verdict(Status.PENDING, pause=reasons.TOKEN_REFUSED)
        case ChatRefused():
            return Verdict(Status.FAILED, str(error) or reasons.REFUSED_CHAT)
        case _:  # OutcomeUnknown, and whatever nobody foresaw
            return Verdict(Status.UNKNOWN, str(error) or reasons.NO_ANSWER)
