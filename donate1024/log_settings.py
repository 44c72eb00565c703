"""Who hears what the processes log: the console, and whoever is alarmed."""

from typing import Any

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "donate1024.log_format.RedactingFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {
        # Its 503 is an answer, not an error.
        "not about /healthz": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(getattr(record, "request", None), "path", "") != "/healthz",
        }
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
        "alerts": {"class": "donate1024.alerts.handler.AlertHandler"},
    },
    "root": {"handlers": ["console", "alerts"], "level": "INFO"},
    "loggers": {
        # httpx writes every address at INFO, the bot's token in it.
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        # Each red part of each look at /healthz with a traceback; and each statement that the watch gave up.
        "health_check": {"level": "CRITICAL"},
        "django.request": {"filters": ["not about /healthz"]},
        "psycopg": {"level": "ERROR"},
        # These come with handlers of their own, whose formatters keep no secret.
        **{
            name: {"handlers": [], "propagate": True}
            for name in ("django", "django.server", "uvicorn", "uvicorn.error", "uvicorn.access")
        },
        # Celery adds its own to those that have none.
        **{name: {"handlers": ["console"], "propagate": False} for name in ("celery.task", "multiprocessing")},
    },
}
