"""The one place that knows on which admin the pages are built: the stock admin is one line away.

What the type checker reads below is that line.
"""

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_noop

if TYPE_CHECKING:  # unfold ships no types, and keeps to those of the admin it is made of
    from django.contrib import admin
    from django.contrib.admin.widgets import AdminFileWidget as PictureWidget, AdminTextInputWidget as TextWidget
    from django.forms import PasswordInput as PasswordWidget

    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    from unfold.admin import ModelAdmin, TabularInline
    from unfold.widgets import (
        UnfoldAdminImageFieldWidget as PictureWidget,
        UnfoldAdminPasswordWidget as PasswordWidget,
        UnfoldAdminTextInputWidget as TextWidget,
    )

# unfold speaks no Ukrainian. What curators see of it stands here, so that our catalogue translates it.
UNFOLD_SAYS = (
    gettext_noop("All applications"),
    gettext_noop("Apply Filters"),
    gettext_noop("Cancel"),
    gettext_noop("Choose file to upload"),
    gettext_noop("Click to cancel"),
    gettext_noop("Dark"),
    gettext_noop("Filters"),
    gettext_noop("Forgotten your password or username?"),
    gettext_noop("Go back"),
    gettext_noop("Image preview"),
    gettext_noop("Light"),
    gettext_noop("No results found"),
    gettext_noop("Reset filters"),
    gettext_noop("Return to site"),
    gettext_noop("Run"),
    gettext_noop("Search apps and models..."),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select all rows"),
    gettext_noop("Select record"),
    gettext_noop("Select value"),
    gettext_noop("System"),
    gettext_noop("This item will be deleted."),
    gettext_noop("This page yielded into no results. Create a new item or reset your filters."),
    gettext_noop("Type to search"),
    gettext_noop("Welcome"),
    gettext_noop("Welcome back to"),
)


class ReadOnlyAdmin(ModelAdmin):
    """Rows that people look at and never write; no count over millions for a page that shows fifty."""

    show_full_result_count = False

    def has_add_permission(self, *_: Any, **__: Any) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


__all__ = ["ModelAdmin", "PasswordWidget", "PictureWidget", "ReadOnlyAdmin", "TabularInline", "TextWidget"]
