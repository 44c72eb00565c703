"""What a person says when they act on a broadcast."""

from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from posts.models import Fundraiser


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Why"), max_length=150, help_text=_("The others will read it in the history."), strip=True
    )


class SendNowForm(forms.Form):
    # Named, so that what was read on the page is what goes out.
    fundraiser = forms.ModelChoiceField(Fundraiser.objects.none(), label=_("Fundraiser"))

    def __init__(self, *args: Any, day: date, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["fundraiser"].queryset = Fundraiser.objects.approved().within_dates(day=day)  # type: ignore[attr-defined]
