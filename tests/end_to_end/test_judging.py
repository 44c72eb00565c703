"""The judge itself: it notices each lie of a row, and a second post."""

from collections.abc import Callable
from typing import Any

import pytest

from delivery.models import Broadcast, Delivery
from tests.donate1024.sandbox.conftest import call
from tests.end_to_end.installation import Installation
from tests.end_to_end.judging import judge
from tests.factories import LONG_AGO, make_fundraiser

pytestmark = pytest.mark.end_to_end


def first() -> Delivery:
    return Delivery.objects.order_by("pk")[0]


def tell(**facts: Any) -> Callable[[], object]:
    return lambda: Delivery.objects.filter(pk=first().pk).update(**facts)


LIES: list[tuple[Callable[[], object], str]] = [
    (tell(message_id="999999"), "says sent, the ledger does not"),
    (tell(status="skipped", reason="left"), "got a post, and its row says"),
    (tell(status="pending"), "finished, and"),
    (lambda: Delivery.objects.update(message_id=first().message_id), "says sent, the ledger does not"),
    (lambda: first().delete(), "got a post, and its row says"),
]


def test_each_lie_is_noticed_and_unknown_is_none(installation: Installation) -> None:
    make_fundraiser()
    people = installation.add_people(5)
    installation.worker()
    installation.manage("broadcast", "start", "--now")
    installation.wait_until(lambda: not Delivery.objects.open().exists(), what="the run to end")
    Broadcast.objects.update(status="finished", finished_at=LONG_AGO)
    truth = list(Delivery.objects.all())
    judge(installation)

    for lie, words in LIES:
        lie()
        with pytest.raises(AssertionError, match=words):
            judge(installation)
        Delivery.objects.all().delete()
        Delivery.objects.bulk_create(truth)
    tell(status="unknown", reason="no answer", message_id="")()
    judge(installation)

    post = installation.sandbox.sent_to(people[0])[0]
    call(
        installation.sandbox.url, "sendMessage", chat_id=people[0], text=post["text"], reply_markup=post["reply_markup"]
    )
    with pytest.raises(AssertionError, match="got the post 2 times"):
        judge(installation)
