"""The public addresses."""

from django.urls import path, re_path

from posts import views

app_name = "posts"
urlpatterns = [
    path("", views.home, name="home"),
    re_path(r"^pictures/(?P<digest>[0-9a-f]{64})$", views.picture, name="picture"),
]
