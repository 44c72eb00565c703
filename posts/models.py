"""What is told: fundraisers, the ways to pay, the pictures."""

from datetime import date
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class Picture(models.Model):
    """A picture ready to be sent, stored once under the hash of its bytes and never changed."""

    digest = models.CharField(_("digest"), max_length=64, primary_key=True, editable=False)  # SHA-256, hex
    content = models.BinaryField(_("content"))
    media_type = models.CharField(_("media type"), max_length=20)
    width = models.PositiveIntegerField(_("width, pixels"))
    height = models.PositiveIntegerField(_("height, pixels"))
    created_at = models.DateTimeField(_("created at"))

    class Meta:
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        constraints = [
            models.CheckConstraint(name="picture_digest_is_sha256", condition=Q(digest__regex=r"^[0-9a-f]{64}$")),
            models.CheckConstraint(name="picture_has_pixels", condition=Q(width__gt=0) & Q(height__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.width}x{self.height} {self.digest[:8]}"


class FundraiserQuerySet(models.QuerySet["Fundraiser"]):
    def approved(self) -> Self:
        return self.filter(status=Fundraiser.Status.APPROVED)

    def within_dates(self, *, day: date) -> Self:
        return self.filter(Q(starts_on=None) | Q(starts_on__lte=day), Q(ends_on=None) | Q(ends_on__gte=day))

    def mark_shown(self, pk: int, *, on: date) -> None:
        """Count one showing; a second call for the same day counts nothing."""
        unseen = self.filter(pk=pk).exclude(last_shown_on=on)
        unseen.update(times_shown=F("times_shown") + 1, last_shown_on=on)


class Fundraiser(models.Model):
    """One fundraiser: what people read, and how they may pay."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")  # being written; never sent
        APPROVED = "approved", _("approved")  # a person decided that it may go out
        PAUSED = "paused", _("paused")  # set aside for a while
        CLOSED = "closed", _("closed")  # the sum is gathered, or the jar is shut
        WITHDRAWN = "withdrawn", _("withdrawn")  # it must not be shown again

    class Currency(models.TextChoices):
        UAH = "UAH", "UAH"
        USD = "USD", "USD"
        EUR = "EUR", "EUR"

    title = models.CharField(_("title"), max_length=200)
    text = models.TextField(_("text"))
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.DRAFT)
    picture = models.ForeignKey(
        Picture, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("picture")
    )
    picture_alt = models.CharField(_("picture in words"), max_length=1000, blank=True)
    goal = models.PositiveBigIntegerField(_("goal"), null=True, blank=True)  # whole units of `currency`
    currency = models.CharField(_("currency"), max_length=3, choices=Currency, default=Currency.UAH)
    priority = models.SmallIntegerField(_("priority"), default=0)
    starts_on = models.DateField(_("first day"), null=True, blank=True)
    ends_on = models.DateField(_("last day"), null=True, blank=True)
    pinned_to = models.DateField(_("pinned to"), null=True, blank=True)
    times_shown = models.PositiveIntegerField(_("times shown"), default=0, editable=False)
    last_shown_on = models.DateField(_("last shown"), null=True, editable=False)
    external_id = models.CharField(_("external id"), max_length=100, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = FundraiserQuerySet.as_manager()

    class Meta:
        verbose_name = _("fundraiser")
        verbose_name_plural = _("fundraisers")
        constraints = [
            models.CheckConstraint(
                name="fundraiser_status_is_known",
                condition=Q(status__in=["draft", "approved", "paused", "closed", "withdrawn"]),
            ),
            models.CheckConstraint(name="fundraiser_goal_is_positive", condition=Q(goal=None) | Q(goal__gt=0)),
            models.CheckConstraint(
                name="fundraiser_ends_after_it_starts",
                condition=Q(starts_on=None) | Q(ends_on=None) | Q(ends_on__gte=F("starts_on")),
            ),
            models.CheckConstraint(
                name="fundraiser_shown_has_its_day",
                condition=Q(times_shown=0, last_shown_on=None) | Q(times_shown__gt=0, last_shown_on__isnull=False),
            ),
            models.UniqueConstraint(name="fundraiser_pinned_alone_to_its_day", fields=["pinned_to"]),
            models.UniqueConstraint(
                name="fundraiser_once_per_external_id", fields=["external_id"], condition=~Q(external_id="")
            ),
        ]

    def __str__(self) -> str:
        return self.title


class PaymentMethod(models.Model):
    """One way to pay into a fundraiser: a link to press, or an account to copy."""

    class Rail(models.TextChoices):
        MONOBANK = "monobank", "monobank"
        PRIVATBANK = "privatbank", _("PrivatBank")
        PUMB = "pumb", _("PUMB")
        NOVAPAY = "novapay", "NovaPay"
        PAYPAL = "paypal", "PayPal"
        CARD = "card", _("card")
        IBAN = "iban", "IBAN"
        CRYPTO = "crypto", _("crypto")

    fundraiser = models.ForeignKey(Fundraiser, models.CASCADE, related_name="payment_methods")
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    rail = models.CharField(_("rail"), max_length=12, choices=Rail)
    link = models.URLField(_("link"), max_length=500, blank=True)
    account = models.CharField(_("account"), max_length=256, blank=True)  # a card, an IBAN, a wallet
    label = models.CharField(_("label"), max_length=40, blank=True)

    class Meta:
        verbose_name = _("way to pay")
        verbose_name_plural = _("ways to pay")
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                name="payment_method_is_a_link_or_an_account",
                condition=(Q(link="") & ~Q(account="")) | (~Q(link="") & Q(account="")),
            ),
            models.UniqueConstraint(
                name="payment_method_once_per_fundraiser", fields=["fundraiser", "link", "account"]
            ),
        ]

    def __str__(self) -> str:
        return self.label or self.get_rail_display()
