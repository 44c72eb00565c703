"""The first password: a one-time address for the first superuser, while no superuser has one."""

from itertools import chain, count
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX, make_password
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.urls import reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext_lazy as _

from posts.admin_site import PasswordWidget

if TYPE_CHECKING:  # generic for the type checker alone
    from django.contrib.auth.forms import SetPasswordForm

NAME = "curator"


def new_path() -> str | None:
    """The path of a page that sets a password once, within PASSWORD_RESET_TIMEOUT; a new one revokes the older ones.

    None where a superuser has a password. Where there is no superuser, one is made.
    """
    if is_done():
        return None
    first = User.objects.filter(is_superuser=True).order_by("pk").first() or User.objects.create_superuser(_free_name())
    # The address is signed over this. Only where it is still as we read it: somebody may be setting theirs just now.
    unused, first.password = first.password, make_password(None)
    if not User.objects.filter(pk=first.pk, password=unused).update(password=first.password):
        return None
    whose = urlsafe_base64_encode(force_bytes(first.pk))
    return reverse("first_password", args=[whose, default_token_generator.make_token(first)])


def is_done() -> bool:
    """Whether a superuser has a password: from then on no address opens anything."""
    return User.objects.filter(is_superuser=True).exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists()


def _free_name() -> str:
    names = chain([NAME], (f"{NAME}{number}" for number in count(2)))
    return next(name for name in names if not User.objects.filter(username=name).exists())


class FirstPassword(PasswordResetConfirmView):
    """Django's own page for a lost password, in the admin's looks; whoever has set theirs is logged in."""

    template_name = "donate1024/first_password.html"
    title = _("Your password")
    reset_url_token = "choose"  # noqa: S105 -- what stands in the address instead of the token
    post_reset_login = True
    success_url = reverse_lazy("admin:index")

    def get_user(self, uidb64: str) -> User | None:
        return None if is_done() else super().get_user(uidb64)

    def get_form(self, form_class: "type[SetPasswordForm[User]] | None" = None) -> "SetPasswordForm[User]":
        form = super().get_form(form_class)
        for field in form.fields.values():
            field.widget = PasswordWidget(attrs={"autocomplete": "new-password"})
        return form

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return admin.site.each_context(self.request) | super().get_context_data(**kwargs) | {"whose": self.user}
