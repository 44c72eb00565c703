"""What the operator sees of the subscribers: nothing here writes, so that nobody is written back in by hand."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from posts.admin_site import ReadOnlyAdmin
from subscribers.models import Subscriber


class Active(admin.SimpleListFilter):
    title = _("gets the daily message")
    parameter_name = "active"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Yes")), ("no", _("No"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Subscriber]) -> QuerySet[Subscriber]:
        match self.value():
            case "yes":
                return queryset.filter(left_at=None)
            case "no":
                return queryset.exclude(left_at=None)
        return queryset


@admin.register(Subscriber)
class SubscriberAdmin(ReadOnlyAdmin):
    list_display = ("chat_id", "first_name", "username", "joined_at", "started_at", "left_at", "left_reason")
    list_filter = (Active,)
    search_fields = ("=chat_id", "first_name", "username")
    search_help_text = _("A chat id, a name or a username")
    ordering = ("-pk",)
    list_per_page = 50
