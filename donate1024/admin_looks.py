"""The admin's looks: its colours, its words, its sidebar (see posts/admin_site.py)."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

# Ukrainian blue instead of its violet.
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "donate1024",
    "SITE_HEADER": "donate1024",
    "SITE_SUBHEADER": _("One fundraiser every morning"),
    "SITE_SYMBOL": "volunteer_activism",
    "SHOW_BACK_BUTTON": True,
    "STYLES": [lambda _request: static("posts/admin.css")],
    "COLORS": {
        "primary": {
            "50": "#eff6ff",
            "100": "#dbeafe",
            "200": "#bfdbfe",
            "300": "#93c5fd",
            "400": "#60a5fa",
            "500": "#3b82f6",
            "600": "#1f5fbf",
            "700": "#1d4ed8",
            "800": "#1e40af",
            "900": "#1e3a8a",
            "950": "#172554",
        }
    },
    "SIDEBAR": {
        "show_all_applications": True,
        "navigation": [
            {
                "items": [
                    {
                        "title": _("Fundraisers"),
                        "icon": "favorite",
                        "link": reverse_lazy("admin:posts_fundraiser_changelist"),
                    },
                    {"title": _("Pictures"), "icon": "image", "link": reverse_lazy("admin:posts_picture_changelist")},
                    {
                        "title": _("Broadcasts"),
                        "icon": "campaign",
                        "link": reverse_lazy("admin:delivery_broadcast_changelist"),
                    },
                    {
                        "title": _("Daily schedule"),
                        "icon": "schedule",
                        "link": reverse_lazy("admin:delivery_dailyschedule_changelist"),
                    },
                    {
                        "title": _("Subscribers"),
                        "icon": "group",
                        "link": reverse_lazy("admin:subscribers_subscriber_changelist"),
                    },
                    {
                        "title": _("Admin chats"),
                        "icon": "forum",
                        "link": reverse_lazy("admin:subscribers_adminchat_changelist"),
                    },
                    {
                        "title": _("Alerts"),
                        "icon": "notifications",
                        "link": reverse_lazy("admin:alerts_alert_changelist"),
                    },
                ]
            }
        ],
    },
}
