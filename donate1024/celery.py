"""The Celery application."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "donate1024.settings")

app = Celery("donate1024")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
