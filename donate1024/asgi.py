"""The web process' entry."""

import os

from django.core.asgi import get_asgi_application

from donate1024.log_format import redact_uncaught

redact_uncaught()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "donate1024.settings")

django_application = get_asgi_application()

# At the start, and not at the first request: /healthz counts from here.
import donate1024.urls  # noqa: E402, F401
from donate1024.watch.web_signs import SigningApplication  # noqa: E402

application = SigningApplication(django_application)
