"""The pages on which people see what went out, and act on it. No rule lives in this file."""

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from delivery import acting, desk
from delivery.bar import draw_bar
from delivery.books import books_of
from delivery.desk import Act
from delivery.forms import ReasonForm
from delivery.history import Change
from delivery.models import Broadcast, DailySchedule, Delivery, DeliveryQuerySet
from delivery.panel import panel
from delivery.reasons import in_words
from delivery.refusals import CannotChange
from delivery.views import MAY_ACT, act_on_day, confirm, show_day
from posts import clock
from posts.admin_site import ModelAdmin, ReadOnlyAdmin


class RecordAdmin(ReadOnlyAdmin):
    """Rows that the machine writes and people read."""

    list_per_page = 50

    class Media:
        css = {"all": ["delivery/desk.css"]}
        js = ["delivery/desk.js"]

    @admin.display(description=_("reason"), ordering="reason")
    def why(self, record: Broadcast | Change | Delivery) -> str | None:
        return in_words(record.reason) or None

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MAY_ACT)


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
    list_before_template = "delivery/admin/day.html"
    change_form_outer_before_template = "delivery/admin/day.html"
    change_form_outer_after_template = "delivery/admin/past.html"
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

    @admin.display(description=_("recipients"))
    def recipients(self, broadcast: Broadcast) -> SafeString | None:
        """The states as one bar, and in figures below it."""
        books = books_of(broadcast.date)
        return draw_bar(books["counts"]) if books else None

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, and on top of it how today stands."""
        at = clock.now()
        today = desk.look(clock.local_date(at), at=at)
        shown = panel(today, may_act=self.has_act_permission(request))
        return super().changelist_view(request, shown | (extra_context or {}))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """One broadcast: how its day stands, what it holds, and who changed what."""
        shown = dict(extra_context or {})
        if broadcast := self.get_object(request, object_id):
            day = desk.look(broadcast.date, at=clock.now())
            shown |= panel(day, may_act=self.has_act_permission(request), in_full=True)
            shown["changes"] = broadcast.changes.all()
        return super().change_view(request, object_id, form_url, shown)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Django's own history knows nothing of acts: ours stands on the page."""
        return redirect(reverse("admin:delivery_broadcast_change", args=[object_id]) + "#history")

    def get_urls(self) -> list[URLPattern]:
        act = path("day/<str:day>/<str:act>/", self.admin_site.admin_view(act_on_day), name="delivery_act_on_day")
        alone = path("panel/<str:day>/", self.admin_site.admin_view(show_day), name="delivery_panel")
        return [act, alone, *super().get_urls()]


class OfToday(admin.SimpleListFilter):
    title = _("day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("today", _("Today"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> QuerySet[Delivery]:
        if self.value() == "today":
            return queryset.filter(broadcast__date=clock.local_date(clock.now()))
        return queryset


@admin.register(Delivery)
class DeliveryAdmin(RecordAdmin):
    list_display = ("broadcast", "subscriber", "status", "why", "claimed_at", "settled_at")
    list_display_links = ("broadcast", "subscriber")
    list_select_related = ("broadcast", "subscriber")
    list_filter = (OfToday, "status", "channel")
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
    actions = ("arrived", "send_again")

    @admin.action(description=Act.ARRIVED.label, permissions=["act"])
    def arrived(self, request: HttpRequest, chosen: QuerySet[Delivery]) -> HttpResponse | None:
        return self._ask_or_do(request, chosen, Act.ARRIVED)

    @admin.action(description=Act.SEND_AGAIN.label, permissions=["act"])
    def send_again(self, request: HttpRequest, chosen: QuerySet[Delivery]) -> HttpResponse | None:
        return self._ask_or_do(request, chosen, Act.SEND_AGAIN)

    def _ask_or_do(self, request: HttpRequest, chosen: QuerySet[Delivery], act: Act) -> HttpResponse | None:
        unknown = cast("DeliveryQuerySet", chosen).unknown()
        count = unknown.count()
        if not count:
            self.message_user(request, _("None of the chosen is unknown: nothing to say of them."), messages.WARNING)
            return None
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if form.is_valid():
            self._do(request, unknown, act, reason=form.cleaned_data["reason"])
            return None
        names = ("action", "select_across", ACTION_CHECKBOX_NAME)
        kept = tuple((name, value) for name in names for value in request.POST.getlist(name))
        asked = acting.ask_on_unknown(act, count=count)
        return confirm(request, act, asked, form=form, back=request.get_full_path(), kept=kept)

    def _do(self, request: HttpRequest, unknown: DeliveryQuerySet, act: Act, *, reason: str) -> None:
        by, at = request.user.get_username(), clock.now()
        for broadcast in Broadcast.objects.filter(pk__in=unknown.order_by().values("broadcast")):
            try:
                told = acting.do_to_unknown(act, broadcast, unknown, by=by, at=at, reason=reason)
            except CannotChange as refusal:
                self.message_user(request, f"{broadcast}: {refusal}", messages.ERROR)
            else:
                self.message_user(request, f"{broadcast}: {told}", messages.SUCCESS)


@admin.register(Change)
class ChangeAdmin(RecordAdmin):
    list_display = ("at", "broadcast", "what", "by_whom", "why")
    list_select_related = ("broadcast",)
    list_filter = ("what",)
    fields = ("at", "broadcast", "what", "by_whom", "why")
    ordering = ("-at", "-pk")

    @admin.display(description=_("by"), ordering="by")
    def by_whom(self, change: Change) -> str:
        return change.by_whom
