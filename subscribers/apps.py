from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SubscribersConfig(AppConfig):
    name = "subscribers"
    verbose_name = _("Who listens")
