"""The public addresses."""

from django.urls import path

from posts import views

app_name = "posts"
urlpatterns = [
    path("", views.home, name="home"),
    path("pictures/<str:digest>", views.picture, name="picture"),
]
