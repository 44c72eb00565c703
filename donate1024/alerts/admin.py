"""The alerts as people see them on the desk. No rule lives in this file."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.decorators import permission_required
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from donate1024.alerts import trial, wording
from donate1024.alerts.models import Alert
from posts import clock
from posts.admin_site import ReadOnlyAdmin

MAY_TRY = "alerts.change_alert"


class Open(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("open", _("Going on")), ("over", _("Over"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Alert]) -> QuerySet[Alert]:
        match self.value():
            case "open":
                return queryset.filter(recovered_at=None)
            case "over":
                return queryset.exclude(recovered_at=None)
        return queryset


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    list_display = ("state", "title", "count", "first", "last", "told")
    list_display_links = ("title",)
    list_filter = (Open,)
    list_per_page = 30
    list_before_template = "alerts/admin/trial.html"
    fields = ("state", "text", "count", "first_at", "last_at", "recovered_at", "told", "technical")
    ordering = ("-last_at", "-pk")

    class Media:
        css = {"all": ["delivery/desk.css"]}

    @admin.display(description=_("state"), ordering=F("recovered_at").asc(nulls_first=True))
    def state(self, alert: Alert) -> SafeString:
        color, words = ("#16a34a", _("Over")) if alert.recovered_at else ("#dc2626", _("Going on"))
        dot = '<span style="white-space: nowrap"><span style="color: {}">●</span> {}</span>'
        return format_html(dot, color, words)

    @admin.display(description=_("what happened"))
    def title(self, alert: Alert) -> str:
        return alert.title

    @admin.display(description=_("first"), ordering="first_at")
    def first(self, alert: Alert) -> str:
        return wording.when(alert.first_at, beside=clock.now())

    @admin.display(description=_("last"), ordering="last_at")
    def last(self, alert: Alert) -> str:
        return wording.when(alert.last_at, beside=clock.now())

    @admin.display(description=_("told"), ordering="told_at")
    def told(self, alert: Alert) -> str:
        if not alert.told_at:
            return format_html("<b>{}</b>", Alert.Route.NONE.label)
        return f"{alert.get_route_display()}, {wording.when(alert.told_at, beside=clock.now())}"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may_try = {"may_try": request.user.has_perm(MAY_TRY)}
        return super().changelist_view(request, may_try | (extra_context or {}))

    def get_urls(self) -> list[URLPattern]:
        address = path("trial/", self.admin_site.admin_view(self.try_it), name="alerts_alert_trial")
        return [address, *super().get_urls()]

    @method_decorator(require_POST)
    @method_decorator(permission_required(MAY_TRY, raise_exception=True))
    def try_it(self, request: HttpRequest) -> HttpResponse:
        arrived, words = trial.send()
        self.message_user(request, words, messages.SUCCESS if arrived else messages.ERROR)
        return redirect("admin:alerts_alert_changelist")
