#!/usr/bin/env python
"""Runs one management command."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError

from donate1024.log_format import redact_uncaught
from posts.redaction import redact

if __name__ == "__main__":
    redact_uncaught()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "donate1024.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(redact(f"donate1024 cannot start: {error}"))
    except OperationalError as error:
        reason = redact(f"donate1024 cannot reach its database: {error}")
        sys.exit(f"{reason}\nCheck DATABASE_URL, or start it by `make run`.")
