"""The Celery application."""

import os

from celery import Celery
from celery.signals import beat_init, task_success, worker_init, worker_process_shutdown, worker_shutting_down
from django.conf import settings

from delivery import stopping
from donate1024 import host_clock
from donate1024.alerts.handler import flush_all
from donate1024.watch import heartbeats

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "donate1024.settings")

app = Celery("donate1024", events="donate1024.task_events:RedactingEvents")
# None but its own settings: a worker shows all that it was given to whoever asks it, so to everybody in Flower.
ours = {name: getattr(settings, name) for name in dir(settings) if name.startswith("CELERY_")}
app.config_from_object(ours, namespace="CELERY")
app.autodiscover_tasks()

# Here, in the parent, so that every child sees it: a slice then gives back what it has not begun.
worker_shutting_down.connect(stopping.request_stop)

# Both come before the first task is taken or sent.
worker_init.connect(host_clock.refuse_wrong)
beat_init.connect(host_clock.refuse_wrong)

task_success.connect(heartbeats.task_succeeded)
worker_process_shutdown.connect(flush_all)
