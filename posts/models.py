"""What is told: fundraisers, the ways to pay, the pictures."""

from datetime import date
from typing import Self

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from posts import accounts, links, markup
from posts.rails import Rail
from posts.rendering import telegram


class WrongStatus(ValueError):
    """The fundraiser's status does not allow the change that was asked for."""


class Picture(models.Model):
    """A picture ready to be sent, stored once under the hash of its bytes and never changed."""

    digest = models.CharField(_("digest"), max_length=64, primary_key=True, editable=False)  # SHA-256, hex
    content = models.BinaryField(_("content"))
    media_type = models.CharField(_("media type"), max_length=20)
    width = models.PositiveIntegerField(_("width, pixels"))
    height = models.PositiveIntegerField(_("height, pixels"))

    class Meta:
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        constraints = [
            models.CheckConstraint(name="picture_digest_is_sha256", condition=Q(digest__regex=r"^[0-9a-f]{64}$")),
            models.CheckConstraint(name="picture_has_pixels", condition=Q(width__gt=0) & Q(height__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.width}x{self.height} {self.digest[:8]}"

    @property
    def url(self) -> str:
        return reverse("posts:picture", args=[self.digest])


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

    # From which statuses each may be reached; nothing leads out of WITHDRAWN, nothing back to DRAFT.
    REACHED_FROM = {
        Status.DRAFT: (),
        Status.APPROVED: (Status.DRAFT, Status.PAUSED, Status.CLOSED),
        Status.PAUSED: (Status.APPROVED,),
        Status.CLOSED: (Status.APPROVED, Status.PAUSED),
        Status.WITHDRAWN: (Status.DRAFT, Status.APPROVED, Status.PAUSED, Status.CLOSED),
    }

    title = models.CharField(_("title"), max_length=200, help_text=_("Shown in bold above the text."))
    text = models.TextField(
        _("text"),
        # Django shows it as HTML.
        help_text=_('Who, what and for how much. &lt;b&gt;bold&lt;/b&gt;, &lt;a href="https://…"&gt;a link&lt;/a&gt;.'),
    )
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.DRAFT)
    picture = models.ForeignKey(
        Picture, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("picture")
    )
    picture_alt = models.CharField(
        _("picture in words"),
        max_length=1000,
        blank=True,
        help_text=_("For people who cannot see it. The title stands in where this is empty."),
    )
    # Whole units of `currency`.
    goal = models.PositiveBigIntegerField(_("goal"), null=True, blank=True, validators=[MinValueValidator(1)])
    currency = models.CharField(_("currency"), max_length=3, choices=Currency, default=Currency.UAH)
    priority = models.SmallIntegerField(
        _("priority"), default=0, help_text=_("The higher goes first among those shown equally often.")
    )
    starts_on = models.DateField(_("first day"), null=True, blank=True)
    ends_on = models.DateField(_("last day"), null=True, blank=True)
    pinned_to = models.DateField(
        _("pinned to"), null=True, blank=True, help_text=_("On this day it goes out before all others.")
    )
    times_shown = models.PositiveIntegerField(_("times shown"), default=0, editable=False)
    last_shown_on = models.DateField(_("last shown"), null=True, blank=True, editable=False)
    external_id = models.CharField(
        _("external id"), max_length=100, blank=True, help_text=_("By which an import finds it again.")
    )

    objects = FundraiserQuerySet.as_manager()

    class Meta:
        verbose_name = _("fundraiser")
        verbose_name_plural = _("fundraisers")
        constraints = [
            models.CheckConstraint(
                name="fundraiser_status_is_known",
                condition=Q(status__in=["draft", "approved", "paused", "closed", "withdrawn"]),
                violation_error_message=_("This status is unknown."),
            ),
            models.CheckConstraint(
                name="fundraiser_currency_is_known",
                condition=Q(currency__in=["UAH", "USD", "EUR"]),
                violation_error_message=_("This currency is unknown."),
            ),
            models.CheckConstraint(
                name="fundraiser_goal_is_positive",
                condition=Q(goal=None) | Q(goal__gt=0),
                violation_error_message=_("The goal is more than nothing, or empty."),
            ),
            models.CheckConstraint(
                name="fundraiser_ends_after_it_starts",
                condition=Q(starts_on=None) | Q(ends_on=None) | Q(ends_on__gte=F("starts_on")),
                violation_error_message=_("The last day is before the first one."),
            ),
            models.CheckConstraint(
                name="fundraiser_shown_has_its_day",
                condition=Q(times_shown=0, last_shown_on=None) | Q(times_shown__gt=0, last_shown_on__isnull=False),
                violation_error_message=_("How often it was shown and the day of the last time belong together."),
            ),
            models.UniqueConstraint(
                name="fundraiser_pinned_alone_to_its_day",
                fields=["pinned_to"],
                violation_error_code="unique",  # so that it is told beside the field
                violation_error_message=_("Another fundraiser is pinned to this day."),
            ),
            models.UniqueConstraint(
                name="fundraiser_once_per_external_id",
                fields=["external_id"],
                condition=~Q(external_id=""),
                violation_error_code="unique",
                violation_error_message=_("Another fundraiser has this external id."),
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Make the text what Telegram accepts, within its limit; say in the text's own field what is wrong."""
        self.title = " ".join(markup.without_controls(self.title).split())
        try:
            self.text = markup.normalise(self.text).strip()
            telegram.check(telegram.compose(self, []))
        except ValidationError as error:
            raise ValidationError({"text": error}) from None

    def approve(self) -> None:
        """Let it go out. Only what can be sent as it stands is approved.

        Raises:
            ValidationError: with everything that keeps it from being sent.
            WrongStatus: if it was withdrawn.
        """
        self.full_clean()
        telegram.render(self)
        self._become(self.Status.APPROVED)

    def pause(self) -> None:
        self._become(self.Status.PAUSED)

    def close(self) -> None:
        self._become(self.Status.CLOSED)

    def withdraw(self) -> None:
        self._become(self.Status.WITHDRAWN)

    def _become(self, status: Status) -> None:
        """Change the status, unless somebody has meanwhile set one that forbids it. The same again is fine."""
        before = [*self.REACHED_FROM[status], status]
        if not Fundraiser.objects.filter(pk=self.pk, status__in=before).update(status=status):
            self.refresh_from_db(fields=["status"])
            raise WrongStatus(
                _("“%(title)s” cannot become %(status)s: it is %(now)s.")
                % {"title": self.title, "status": status.label, "now": self.get_status_display()}
            )
        self.status = status


class PaymentMethod(models.Model):
    """One way to pay into a fundraiser: a link to press, or an account to copy."""

    fundraiser = models.ForeignKey(Fundraiser, models.CASCADE, related_name="payment_methods")
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    rail = models.CharField(_("rail"), max_length=12, choices=Rail)
    link = models.URLField(_("link"), max_length=links.MAX_LENGTH, blank=True)
    account = models.CharField(_("account"), max_length=256, blank=True)  # a card, an IBAN, a wallet
    label = models.CharField(_("label"), max_length=40, blank=True)

    class Meta:
        verbose_name = _("way to pay")
        verbose_name_plural = _("ways to pay")
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                name="payment_method_is_a_link_or_an_account",
                condition=(Q(link="") & ~Q(account="")) | (Q(link__startswith="https://") & Q(account="")),
                violation_error_message=_("A way to pay is a link or an account."),
            ),
            models.UniqueConstraint(
                name="payment_method_once_per_fundraiser",
                fields=["fundraiser", "link", "account"],
                deferrable=models.Deferrable.DEFERRED,  # two rows of a form may change places
                violation_error_message=_("This way to pay is there already."),
            ),
        ]

    def __str__(self) -> str:
        return self.label or str(self.get_rail_display())

    def clean(self) -> None:
        if self.link or self.account:
            self.take(self.link or self.account)
        if self.rail == Rail.CRYPTO and not self.label:
            raise ValidationError({"label": _("Name the coin and its network: money sent by another one is lost.")})

    def take(self, pasted: str) -> None:
        """Become the way to pay that somebody pasted, in any form we know.

        Raises:
            ValidationError: with the reason, if it is none of them.
        """
        if accounts.looks_like_one(pasted):
            self.link, (self.rail, self.account) = "", accounts.parse(pasted)
        else:
            self.account, (self.rail, self.link) = "", links.parse(pasted)
