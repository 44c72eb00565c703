"""The one place that knows on which admin the pages are built: the stock admin is one line away.

What the type checker reads below is that line.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # unfold ships no types, and keeps to those of the admin it is made of
    from django.contrib import admin
    from django.contrib.admin.widgets import AdminFileWidget as PictureWidget, AdminTextInputWidget as TextWidget

    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    from unfold.admin import ModelAdmin, TabularInline
    from unfold.widgets import UnfoldAdminImageFieldWidget as PictureWidget, UnfoldAdminTextInputWidget as TextWidget

__all__ = ["ModelAdmin", "PictureWidget", "TabularInline", "TextWidget"]
