"""Sums of money as they are written in Ukraine."""

SIGNS = {"UAH": "₴", "USD": "$", "EUR": "€"}


def money(amount: int, currency: str) -> str:
    """Whole units with thousands apart and the sign behind: 120 000 ₴. The spaces do not break."""
    return f"{amount:,} {SIGNS.get(currency, currency)}".replace(",", " ").replace(" ", "\u00a0")
