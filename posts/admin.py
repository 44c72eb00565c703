"""The curator's pages. No rule lives in this file."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, ngettext_lazy

from posts import pictures
from posts.admin_site import ModelAdmin, ReadOnlyAdmin, TabularInline
from posts.forms import FundraiserForm, PaymentMethodForm, PaymentMethodFormSet
from posts.models import Fundraiser, PaymentMethod, Picture, WrongStatus
from posts.preview import preview
from posts.rendering.money import money

SAVE_AND_APPROVE = "posts_fundraiser_save_and_approve"  # the button's name, which unfold makes of the action's
Status = Fundraiser.Status
DOTS: dict[str, str] = {
    Status.DRAFT: "#9ca3af",
    Status.APPROVED: "#16a34a",
    Status.PAUSED: "#d97706",
    Status.CLOSED: "#2563eb",
    Status.WITHDRAWN: "#dc2626",
}


class PaymentMethodInline(TabularInline):
    model = PaymentMethod
    form = PaymentMethodForm
    formset = PaymentMethodFormSet
    fields = ("pasted", "label", "position")
    ordering_field = "position"
    hide_ordering_field = True
    extra = 0
    min_num = 1


@admin.register(Fundraiser)
class FundraiserAdmin(ModelAdmin):
    form = FundraiserForm
    inlines = (PaymentMethodInline,)
    list_display = ("thumbnail", "title", "status_dot", "goal_money", "times_shown", "last_shown_on", "pinned_to")
    list_display_links = ("thumbnail", "title")
    list_filter = ("status", "pinned_to", "last_shown_on")
    search_fields = ("title", "text", "external_id")
    ordering = ("-pk",)
    list_per_page = 30
    show_full_result_count = False
    actions = ("approve", "pause", "close", "withdraw")
    actions_submit_line = ("save_and_approve",)
    change_form_outer_after_template = "posts/admin/preview.html"
    readonly_fields = ("status", "times_shown", "last_shown_on")
    fieldsets = (
        (None, {"fields": ("title", "text", "photo", "picture_alt", "goal", "currency")}),
        (_("When"), {"fields": ("starts_on", "ends_on", "pinned_to", "priority")}),
        (_("So far"), {"fields": ("status", "times_shown", "last_shown_on", "external_id"), "classes": ["collapse"]}),
    )

    class Media:
        css = {"all": ["posts/preview.css"]}
        js = ["posts/preview.js"]

    @admin.display(description=_("picture"))
    def thumbnail(self, fundraiser: Fundraiser) -> SafeString | str:
        return _thumbnail(fundraiser.picture_id)

    @admin.display(description=_("status"), ordering="status")
    def status_dot(self, fundraiser: Fundraiser) -> SafeString:
        return format_html(
            '<span style="white-space: nowrap"><span style="color: {}">●</span> {}</span>',
            DOTS[fundraiser.status],
            fundraiser.get_status_display(),
        )

    @admin.display(description=_("goal"), ordering="goal")
    def goal_money(self, fundraiser: Fundraiser) -> str:
        return money(fundraiser.goal, fundraiser.currency) if fundraiser.goal else ""

    @admin.action(description=_("Approve"), permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Fundraiser]) -> None:
        done = ngettext_lazy("%d fundraiser approved.", "%d fundraisers approved.")
        self._each(request, queryset, Fundraiser.approve, done=done)

    @admin.action(description=_("Pause"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Fundraiser]) -> None:
        done = ngettext_lazy("%d fundraiser paused.", "%d fundraisers paused.")
        self._each(request, queryset, Fundraiser.pause, done=done)

    @admin.action(description=_("Close: the sum is gathered"), permissions=["change"])
    def close(self, request: HttpRequest, queryset: QuerySet[Fundraiser]) -> None:
        done = ngettext_lazy("%d fundraiser closed.", "%d fundraisers closed.")
        self._each(request, queryset, Fundraiser.close, done=done)

    @admin.action(description=_("Withdraw for good"), permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Fundraiser]) -> None:
        done = ngettext_lazy("%d fundraiser withdrawn.", "%d fundraisers withdrawn.")
        self._each(request, queryset, Fundraiser.withdraw, done=done)

    @admin.action(description=_("Save and approve"), permissions=["change"])
    def save_and_approve(self, request: HttpRequest, fundraiser: Fundraiser) -> None:
        self.approve(request, Fundraiser.objects.filter(pk=fundraiser.pk))

    def _each(
        self, request: HttpRequest, chosen: QuerySet[Fundraiser], verb: Callable[[Fundraiser], None], *, done: Any
    ) -> None:
        """Do it to each; say how many did it, and of each that refused, why."""
        count = 0
        for fundraiser in chosen:
            try:
                verb(fundraiser)
            except WrongStatus as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
            except ValidationError as refusal:
                self.message_user(request, f"{fundraiser}: {' '.join(refusal.messages)}", messages.ERROR)
            else:
                count += 1
        if count:
            self.message_user(request, done % count, messages.SUCCESS)

    def save_model(self, request: HttpRequest, obj: Fundraiser, form: FundraiserForm, change: bool) -> None:
        if obj.picture and "photo" in form.changed_data:
            pictures.store(obj.picture)
        changed = ["picture" if name == "photo" else name for name in form.changed_data]
        # Only what was edited, for the morning counts showings in the same row.
        obj.save(update_fields=changed if change else None)

    def save_related(self, request: HttpRequest, form: FundraiserForm, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        # Here, and not in save_model as unfold does it: only now it has its ways to pay.
        if SAVE_AND_APPROVE in request.POST and self.has_change_permission(request, form.instance):
            self.save_and_approve(request, form.instance)

    def get_urls(self) -> list[URLPattern]:
        address = path("preview/", self.admin_site.admin_view(preview), name="posts_fundraiser_preview")
        return [address, *super().get_urls()]


@admin.register(Picture)
class PictureAdmin(ReadOnlyAdmin):
    list_display = ("thumbnail", "width", "height")
    list_per_page = 30
    fields = ("large", "width", "height", "media_type", "digest")
    readonly_fields = ("large",)

    @admin.display(description=_("picture"))
    def thumbnail(self, picture: Picture) -> SafeString | str:
        return _thumbnail(picture.pk)

    @admin.display(description=_("picture"))
    def large(self, picture: Picture) -> SafeString:
        return format_html('<img src="{}" alt="" style="max-width: 100%; max-height: 70vh">', picture.url)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Picture]:
        return super().get_queryset(request).defer("content")


def _thumbnail(digest: str | None) -> SafeString | str:
    if not digest:
        return ""
    return format_html(
        '<img src="{}" alt="" loading="lazy" style="width: 64px; height: 48px; object-fit: cover; border-radius: 6px">',
        Picture(digest=digest).url,
    )
