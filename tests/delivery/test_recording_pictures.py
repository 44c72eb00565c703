"""What an answer changes about the picture that Telegram keeps."""

import pytest

from delivery.models import Delivery, UploadedPicture
from delivery.outcomes import Verdict, verdict_on
from posts import clock
from subscribers.telegram.outcomes import (
    FileUnknown,
)
from tests.delivery.answering import BOT, answered
from tests.delivery.running import make_proven
from tests.factories import LONG_AGO, make_picture

pytestmark = pytest.mark.django_db
Status = Delivery.Status


def uploaded(file_id: str) -> Verdict:
    return Verdict(Status.SENT, message_id="77", file_id=file_id)


def test_the_handle_of_an_upload_is_stored_for_this_bot() -> None:
    broadcast = make_proven(picture=make_picture())

    answered(broadcast, uploaded("handle"))

    stored = UploadedPicture.objects.get()
    assert (stored.bot_id, stored.picture, stored.file_id) == (BOT, broadcast.picture, "handle")


def test_of_two_uploads_the_first_handle_stays() -> None:
    broadcast = make_proven(picture=make_picture())

    answered(broadcast, uploaded("first"))
    answered(broadcast, uploaded("second"))

    assert UploadedPicture.objects.get().file_id == "first"


@pytest.mark.parametrize(("stored", "is_left"), [("stale", False), ("newer", True)])
def test_a_handle_that_was_refused_is_deleted_unless_it_was_replaced(stored: str, *, is_left: bool) -> None:
    picture = make_picture()
    broadcast = make_proven(picture=picture)
    UploadedPicture.objects.create(bot_id=BOT, picture=picture, file_id=stored, uploaded_at=LONG_AGO)
    other_bots = UploadedPicture.objects.create(bot_id=2048, picture=picture, file_id="stale")

    answered(broadcast, verdict_on(FileUnknown(""), file_id="stale"))

    assert UploadedPicture.objects.filter(bot_id=BOT).exists() == is_left
    assert UploadedPicture.objects.filter(pk=other_bots.pk).exists()


def test_a_handle_of_this_runs_own_upload_that_is_refused_waits_for_a_person() -> None:
    picture = make_picture()
    broadcast = make_proven(picture=picture)
    UploadedPicture.objects.create(bot_id=BOT, picture=picture, file_id="fresh", uploaded_at=clock.now())

    answered(broadcast, verdict_on(FileUnknown(""), file_id="fresh"))

    assert (broadcast.status, broadcast.reason) == ("paused", "Telegram refused the picture")
