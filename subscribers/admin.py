"""What the operator sees of the people: nobody is written in by hand, and only an admin chat is taken off."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from posts.admin_site import ModelAdmin, ReadOnlyAdmin
from subscribers import admin_chats
from subscribers.admin_chats import AdminChat
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


@admin.register(AdminChat)
class AdminChatAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "role", "chat_id", "linked_at", "unlink")
    list_before_template = "subscribers/admin/admin_chats.html"
    ordering = ("linked_at", "pk")
    actions = None
    has_delete_permission = ModelAdmin.has_delete_permission

    class Media:
        css = {"all": ["delivery/desk.css"]}

    @admin.display(description="")
    def unlink(self, chat: AdminChat) -> SafeString:
        address = reverse("admin:subscribers_adminchat_delete", args=[chat.pk])
        return format_html('<a class="underline" href="{}">{}</a>', address, _("Unlink"))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        told = {"of_settings": settings.TELEGRAM_ADMIN_CHATS, "is_anybody_told": bool(admin_chats.chat_ids())}
        return super().changelist_view(request, told | (extra_context or {}))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        is_last = len(admin_chats.chat_ids()) == 1
        return super().delete_view(request, object_id, {"is_last": is_last} | (extra_context or {}))
