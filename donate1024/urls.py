"""The addresses of the pages."""

from django.contrib import admin
from django.urls import include, path

from donate1024.first_password import FirstPassword
from donate1024.watch import health

urlpatterns = [
    path("healthz", health.HealthView.as_view()),
    path("livez", health.livez),
    path("", include("posts.urls")),
    path("admin/first/<uidb64>/<token>/", FirstPassword.as_view(), name="first_password"),
    path("admin/", admin.site.urls),
]
