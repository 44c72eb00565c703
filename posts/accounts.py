"""Numbers to send money to: cards, IBANs, wallets, with their check digits checked."""

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from stdnum import iban, luhn
from stdnum.exceptions import ValidationError as WrongNumber

from posts.rails import Rail

_CARD = re.compile(r"[\d\s-]+")
# Ukrainian ones in any case; foreign ones as banks print them, for a wallet may begin like a foreign IBAN.
_IBAN = re.compile(r"(?:[Uu][Aa]|[A-Z]{2}\d\d)[0-9A-Z\s-]*")
# The alphabets of base58, bech32, hex and base64url together.
_WALLET = re.compile(r"[A-Za-z0-9_-]{25,128}")


def looks_like_one(raw: str) -> bool:
    """Whether it is an account rather than a link: every link has a dot or a slash."""
    return not re.search(r"[./]", raw)


def parse(raw: str) -> tuple[Rail, str]:
    """The rail, and the account without spaces and dashes, as a banking app takes it when pasted.

    A wallet is only checked for its characters: there are too many coins to know them all.

    Raises:
        ValidationError: with the reason, naming the kind of account that it looks like.
    """
    account = raw.strip()
    if _CARD.fullmatch(account):
        return Rail.CARD, _card(re.sub(r"[\s-]", "", account))
    if _IBAN.fullmatch(account):
        return Rail.IBAN, _iban(account)
    if _WALLET.fullmatch(account):
        return Rail.CRYPTO, account
    raise ValidationError(_("This is neither a link nor the number of a card, an IBAN or a wallet."))


def _card(digits: str) -> str:
    if not 13 <= len(digits) <= 19:
        raise ValidationError(
            _("A card's number has 16 digits, this one has %(count)d."), params={"count": len(digits)}
        )
    if not luhn.is_valid(digits):
        raise ValidationError(_("A digit of the card's number is wrong. Copy it again."))
    return digits


def _iban(account: str) -> str:
    try:
        return str(iban.validate(re.sub(r"\s", "", account)))
    except WrongNumber:
        raise ValidationError(_("A character of the IBAN is wrong or missing. Copy it again.")) from None
