"""The addresses of the pages."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("posts.urls")),
    path("admin/", admin.site.urls),
]
