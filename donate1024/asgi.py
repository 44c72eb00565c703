"""The web process' entry."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "donate1024.settings")

application = get_asgi_application()
