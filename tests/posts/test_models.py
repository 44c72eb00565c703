from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from hypothesis import given, strategies as st

from posts.models import Fundraiser, PaymentMethod, Picture, WrongStatus
from tests.factories import make_fundraiser, make_picture

pytestmark = pytest.mark.django_db

DAY = date(2026, 10, 25)
Status = Fundraiser.Status


def refused_by(name: str, row: Fundraiser | PaymentMethod | Picture) -> bool:
    with pytest.raises(IntegrityError) as refusal, transaction.atomic(), deferred_constraints_checked():
        row.save(force_insert=True)
    return name in str(refusal.value)


@contextmanager
def deferred_constraints_checked() -> Iterator[None]:
    yield
    connection.check_constraints()


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("fundraiser_status_is_known", {"status": "published"}),
        ("fundraiser_currency_is_known", {"currency": "BTC"}),
        ("fundraiser_goal_is_positive", {"goal": 0}),
        ("fundraiser_ends_after_it_starts", {"starts_on": DAY, "ends_on": date(2026, 10, 24)}),
        ("fundraiser_shown_has_its_day", {"times_shown": 1}),
        ("fundraiser_shown_has_its_day", {"last_shown_on": DAY}),
    ],
)
def test_an_impossible_fundraiser_cannot_be_stored(name: str, facts: dict[str, Any]) -> None:
    assert refused_by(name, Fundraiser(title="Збір", text="Текст", **facts))


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("fundraiser_pinned_alone_to_its_day", {"pinned_to": DAY}),
        ("fundraiser_once_per_external_id", {"external_id": "a-1"}),
    ],
)
def test_two_fundraisers_cannot_share_a_pin_or_an_external_id(name: str, facts: dict[str, Any]) -> None:
    make_fundraiser(**facts)
    make_fundraiser()
    make_fundraiser()  # many may have none

    assert refused_by(name, Fundraiser(title="Збір", text="Текст", **facts))


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"link": "https://privat24.ua/send/a", "account": "4111111111111111"},
        {"link": "http://privat24.ua/send/a"},
    ],
)
def test_a_way_to_pay_is_either_an_https_link_or_an_account(facts: dict[str, str]) -> None:
    method = PaymentMethod(fundraiser=make_fundraiser(), rail="privatbank", **facts)

    assert refused_by("payment_method_is_a_link_or_an_account", method)


def test_a_way_to_pay_stands_once() -> None:
    fundraiser = make_fundraiser(link="https://privat24.ua/send/a")
    again = PaymentMethod(fundraiser=fundraiser, rail="privatbank", link="https://privat24.ua/send/a")

    assert refused_by("payment_method_once_per_fundraiser", again)


def test_a_picture_has_pixels_and_is_named_by_its_hash() -> None:
    facts = {"content": b"x", "media_type": "image/jpeg", "height": 1}

    assert refused_by("picture_digest_is_sha256", Picture(digest="photo.jpg", width=1, **facts))
    assert refused_by("picture_has_pixels", Picture(digest="0" * 64, width=0, **facts))


@pytest.mark.parametrize("model", [Fundraiser, PaymentMethod])
def test_every_broken_rule_is_told_in_words(model: type[Fundraiser | PaymentMethod]) -> None:
    for constraint in model._meta.constraints:
        assert constraint.name.replace("_", " ") not in str(constraint.violation_error_message)
        assert not str(constraint.violation_error_message).startswith("Constraint")


def test_the_text_is_made_valid_before_it_is_stored() -> None:
    fundraiser = Fundraiser(title=" Пікап\n <3 ", text="\r\n5 < 10 & <b>так</b>\n")

    fundraiser.full_clean()

    assert fundraiser.title == "Пікап <3"
    assert fundraiser.text == "5 &lt; 10 &amp; <b>так</b>"


@pytest.mark.parametrize(
    ("text", "reason"), [("<b>так", "<b> is not closed"), ("ї" * 4096, "4,102 of 4,096 characters")]
)
def test_what_is_wrong_with_the_text_is_told_beside_it(text: str, reason: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Fundraiser(title="Збір", text=text).full_clean()

    assert reason in refusal.value.message_dict["text"][0]


VERBS = {
    Status.APPROVED: Fundraiser.approve,
    Status.PAUSED: Fundraiser.pause,
    Status.CLOSED: Fundraiser.close,
    Status.WITHDRAWN: Fundraiser.withdraw,
}
ALLOWED = {
    (Status.DRAFT, Status.APPROVED),
    (Status.DRAFT, Status.WITHDRAWN),
    (Status.APPROVED, Status.PAUSED),
    (Status.APPROVED, Status.CLOSED),
    (Status.APPROVED, Status.WITHDRAWN),
    (Status.PAUSED, Status.APPROVED),
    (Status.PAUSED, Status.CLOSED),
    (Status.PAUSED, Status.WITHDRAWN),
    (Status.CLOSED, Status.APPROVED),
    (Status.CLOSED, Status.WITHDRAWN),
}


@pytest.mark.parametrize("wanted", VERBS)
@pytest.mark.parametrize("now", Status)
def test_a_status_changes_only_along_the_allowed_ways(now: Status, wanted: Status) -> None:
    fundraiser = make_fundraiser(status=now)

    if now == wanted or (now, wanted) in ALLOWED:
        VERBS[wanted](fundraiser)
        expected = wanted
    else:
        with pytest.raises(WrongStatus, match=str(now.label)):
            VERBS[wanted](fundraiser)
        expected = now

    assert fundraiser.status == expected
    fundraiser.refresh_from_db()
    assert fundraiser.status == expected


def test_a_change_made_meanwhile_by_somebody_else_counts() -> None:
    fundraiser = make_fundraiser()
    Fundraiser.objects.get(pk=fundraiser.pk).withdraw()

    with pytest.raises(WrongStatus, match="it is withdrawn"):
        fundraiser.pause()

    fundraiser.refresh_from_db()
    assert fundraiser.status == Status.WITHDRAWN


def test_only_what_can_be_sent_is_approved() -> None:
    without_payment = Fundraiser.objects.create(title="Збір", text="Текст")
    too_long = make_fundraiser(status=Status.DRAFT, text="ї" * 1024, picture=make_picture())
    broken = make_fundraiser(status=Status.DRAFT, text="<b>Текст")

    for fundraiser in (without_payment, too_long, broken):
        with pytest.raises(ValidationError):
            fundraiser.approve()

    assert not Fundraiser.objects.approved().exists()


def test_a_pasted_way_to_pay_is_normalised_and_names_its_rail() -> None:
    method = PaymentMethod(fundraiser=make_fundraiser())

    method.take("send.monobank.ua/jar/abc?a=5")
    method.full_clean()

    assert (method.rail, method.link, method.account) == ("monobank", "https://send.monobank.ua/jar/abc", "")


def test_a_link_off_the_list_is_refused_wherever_it_comes_from() -> None:
    method = PaymentMethod(fundraiser=make_fundraiser(), rail="monobank", link="https://evil.test/jar/abc")

    with pytest.raises(ValidationError, match=r"evil\.test"):
        method.full_clean()


def test_a_wallet_says_which_coin_it_takes() -> None:
    wallet = PaymentMethod(fundraiser=make_fundraiser(), rail="crypto", account="TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")

    with pytest.raises(ValidationError, match="coin"):
        wallet.full_clean()
    wallet.label = "USDT (TRC-20)"
    wallet.full_clean()


@given(text=st.text(max_size=50), title=st.text(min_size=1, max_size=50))
def test_whatever_passes_the_check_renders_and_stays_as_it_is(text: str, title: str) -> None:
    fundraiser = Fundraiser(title=title, text=text)
    try:
        fundraiser.clean()
    except ValidationError:
        return
    stored = fundraiser.text

    fundraiser.clean()

    assert fundraiser.text == stored
