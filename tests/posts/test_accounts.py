import pytest
from django.core.exceptions import ValidationError
from hypothesis import given, strategies as st
from stdnum import luhn

from posts import accounts
from posts.rails import Rail


@pytest.mark.parametrize(
    ("pasted", "rail", "account"),
    [
        ("4111 1111-1111 1111\n", Rail.CARD, "4111111111111111"),
        ("ua21 3223 1300 0002 6007 2335 6600 1", Rail.IBAN, "UA213223130000026007233566001"),
        ("DE89370400440532013000", Rail.IBAN, "DE89370400440532013000"),
        ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", Rail.CRYPTO, "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"),
        ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", Rail.CRYPTO, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
    ],
)
def test_an_account_is_known_by_its_look(pasted: str, rail: Rail, account: str) -> None:
    assert accounts.looks_like_one(pasted)
    assert accounts.parse(pasted) == (rail, account)


@pytest.mark.parametrize(
    ("pasted", "reason"),
    [
        ("4111 1111 1111 1112", "digit of the card"),
        ("4111 1111", "has 16 digits, this one has 8"),
        ("UA213223130000026007233566002", "IBAN is wrong"),
        ("UA21322313", "IBAN is wrong"),
        ("Олені на картку", "neither a link nor"),
    ],
)
def test_a_wrong_account_is_refused_with_the_reason(pasted: str, reason: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        accounts.parse(pasted)

    assert reason in refusal.value.messages[0]


@given(st.from_regex(r"[0-9]{15}", fullmatch=True), st.integers(0, 14), st.integers(1, 9))
def test_one_mistyped_digit_of_a_card_is_seen(stem: str, place: int, by: int) -> None:
    card = stem + luhn.calc_check_digit(stem)
    mistyped = card[:place] + str((int(card[place]) + by) % 10) + card[place + 1 :]

    assert accounts.parse(card) == (Rail.CARD, card)
    with pytest.raises(ValidationError):
        accounts.parse(mistyped)
