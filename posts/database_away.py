"""What a statement raises while the database is away: its own fault is another error."""

from django.db import InterfaceError, InternalError, OperationalError

DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)  # the last: it takes no writes for a while
