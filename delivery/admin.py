"""The pages on which people see what went out, and stop or resume it. No rule lives in this file."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from delivery import control
from delivery.books import books_of
from delivery.models import Broadcast, DailySchedule, Delivery
from delivery.reasons import in_words
from delivery.refusals import CannotChange
from posts import clock
from posts.admin_site import ModelAdmin, ReadOnlyAdmin

COLOURS: dict[str, str] = {
    Delivery.Status.SENT: "#16a34a",
    Delivery.Status.PENDING: "#93c5fd",
    Delivery.Status.SENDING: "#2563eb",
    Delivery.Status.SKIPPED: "#d4d4d8",
    Delivery.Status.FAILED: "#dc2626",
    Delivery.Status.UNKNOWN: "#a855f7",
}


class RecordAdmin(ReadOnlyAdmin):
    """Rows that the machine writes and people read."""

    list_per_page = 50

    @admin.display(description=_("reason"), ordering="reason")
    def why(self, record: Broadcast | Delivery) -> str | None:
        return in_words(record.reason) or None


@admin.register(DailySchedule)
class DailyScheduleAdmin(ModelAdmin):
    """One row: its list leads straight to it."""

    fields = ("is_enabled", "send_at", "latest_after", "quiet_from")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        schedule = DailySchedule.load()
        return redirect(reverse("admin:delivery_dailyschedule_change", args=[schedule.pk]))


@admin.register(Broadcast)
class BroadcastAdmin(RecordAdmin):
    list_display = ("date", "fundraiser", "status", "recipients", "why")
    list_select_related = ("fundraiser",)
    list_filter = ("status",)
    list_per_page = 14
    date_hierarchy = "date"
    ordering = ("-date",)
    fields = (
        "date",
        "status",
        "why",
        "fundraiser",
        "recipients",
        "planned_at",
        "first_sent_at",
        "finished_at",
        "run_until",
        "hold_until",
        "revision",
        "text",
    )
    actions = ("pause", "resume", "cancel")

    @admin.display(description=_("recipients"))
    def recipients(self, broadcast: Broadcast) -> SafeString | None:
        """The states as one bar, and in figures below it."""
        books = books_of(broadcast.date)
        counts = {state: count for state, count in books["counts"].items() if count} if books else {}
        if not counts:
            return None
        labels = dict(Delivery.Status.choices)
        return format_html(
            '<div style="min-width:9rem">'
            '<div style="display:flex;height:.6rem;border-radius:.3rem;overflow:hidden">{}</div>{}</div>',
            format_html_join(
                "",
                '<span style="flex:{} 0 2px;background:{}"></span>',
                [(count, COLOURS[state]) for state, count in counts.items()],
            ),
            " · ".join(f"{labels[Delivery.Status(state)]} {count}" for state, count in counts.items()),
        )

    @admin.action(description=_("Pause: write to nobody until it is resumed"), permissions=["act"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Broadcast]) -> None:
        by = request.user.get_username()
        self._act(request, chosen, lambda broadcast: control.pause(broadcast, by=by), done=_("Paused: %s."))

    @admin.action(description=_("Resume, until midnight at the latest"), permissions=["act"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Broadcast]) -> None:
        at, by = clock.now(), request.user.get_username()
        self._act(request, chosen, lambda broadcast: control.resume(broadcast, by=by, at=at), done=_("Resumed: %s."))

    @admin.action(description=_("Cancel for good: what was sent stays sent"), permissions=["act"])
    def cancel(self, request: HttpRequest, chosen: QuerySet[Broadcast]) -> None:
        at, by = clock.now(), request.user.get_username()
        self._act(
            request,
            chosen,
            lambda broadcast: control.cancel(broadcast, by=by, at=at),
            done=_("Cancelled for good: %s."),
        )

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("delivery.change_broadcast")

    def _act(
        self, request: HttpRequest, chosen: QuerySet[Broadcast], act: Callable[[Broadcast], None], *, done: Any
    ) -> None:
        for broadcast in chosen:
            try:
                act(broadcast)
            except CannotChange as error:
                self.message_user(request, f"{broadcast}: {error}", messages.ERROR)
            else:
                self.message_user(request, done % broadcast, messages.SUCCESS)


@admin.register(Delivery)
class DeliveryAdmin(RecordAdmin):
    list_display = ("broadcast", "subscriber", "status", "why", "claimed_at", "settled_at")
    list_display_links = ("broadcast", "subscriber")
    list_select_related = ("broadcast", "subscriber")
    list_filter = ("status", "channel")
    fields = (
        "broadcast",
        "subscriber",
        "channel",
        "status",
        "why",
        "revision",
        "claimed_at",
        "settled_at",
        "message_id",
    )
    ordering = ("-pk",)
    search_fields = ("=subscriber__chat_id",)
    search_help_text = _("A chat id")
