"""The ways to pay that we know."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Rail(models.TextChoices):
    MONOBANK = "monobank", "monobank"
    PRIVATBANK = "privatbank", _("PrivatBank")
    PUMB = "pumb", _("PUMB")
    NOVAPAY = "novapay", "NovaPay"
    PAYPAL = "paypal", "PayPal"
    CARD = "card", _("card")
    IBAN = "iban", "IBAN"
    CRYPTO = "crypto", _("crypto")
