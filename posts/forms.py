"""The forms in which curators write a fundraiser."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from posts import pictures
from posts.admin_site import PictureWidget, TextWidget
from posts.models import Fundraiser, PaymentMethod, Picture


class FundraiserForm(forms.ModelForm):  # type: ignore[type-arg] # Django's forms take no argument at run time
    """A fundraiser, with its picture as a file to choose: the file's name is never used."""

    instance: Fundraiser
    photo = forms.FileField(
        label=_("Picture"),
        required=False,
        widget=PictureWidget(attrs={"accept": "image/*"}),
        help_text=_("With a picture the whole message may have 1,024 characters, without one 4,096."),
    )

    class Meta:
        model = Fundraiser
        fields = (
            "title",
            "text",
            "picture_alt",
            "goal",
            "currency",
            "starts_on",
            "ends_on",
            "pinned_to",
            "priority",
            "external_id",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.picture_id:
            self.fields["photo"].initial = Picture(digest=self.instance.picture_id)  # its address, not its bytes

    def clean_photo(self) -> Picture | None:
        """The prepared picture, not stored yet. It counts for the length of the text, which is checked after it."""
        chosen = self.cleaned_data["photo"]
        if isinstance(chosen, UploadedFile):
            self.instance.picture = pictures.prepare(chosen.read())
        elif chosen is False:  # the box beside the picture: take it away
            self.instance.picture = None
        return self.instance.picture


class PaymentMethodForm(forms.ModelForm):  # type: ignore[type-arg]
    """One way to pay, pasted in any form that we know."""

    instance: PaymentMethod
    pasted = forms.CharField(
        label=_("Link, card, IBAN or wallet"), widget=TextWidget, help_text=_("Paste it as you have it.")
    )

    class Meta:
        model = PaymentMethod
        fields = ("pasted", "label", "position")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["pasted"] = self.instance.link or self.instance.account
        self.fields["position"].required = False
        if self.instance.pk is None:
            self.initial["position"] = None  # filled in by dragging; else it goes to the end

    def clean_pasted(self) -> str:
        self.instance.take(self.cleaned_data["pasted"])
        return self.instance.link or self.instance.account


class PaymentMethodFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        super().clean()
        kept = [form for form in self.forms if form.cleaned_data.get("pasted") and not form.cleaned_data.get("DELETE")]
        if not kept and self.instance.status == Fundraiser.Status.APPROVED:
            raise ValidationError(_("An approved fundraiser keeps at least one way to pay."))
        _refuse_repeated(kept)
        _place_at_the_end(kept)


def _refuse_repeated(rows: "list[forms.ModelForm[PaymentMethod]]") -> None:
    seen: set[str] = set()
    for row in rows:
        if row.cleaned_data["pasted"] in seen:
            row.add_error("pasted", _("This way to pay is there already."))
        seen.add(row.cleaned_data.get("pasted", ""))


def _place_at_the_end(rows: "list[forms.ModelForm[PaymentMethod]]") -> None:
    """Give the new ones, which nobody dragged to a place, the places behind the others."""
    places = [row.cleaned_data["position"] for row in rows]
    last = max((place for place in places if place is not None), default=-1)
    for row, place in zip(rows, places, strict=True):
        if place is None:
            last += 1
            row.instance.position = last
