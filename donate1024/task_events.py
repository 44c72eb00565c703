"""What Celery's workers tell of their tasks, and Flower shows, without secrets."""

from typing import Any

from celery.app.events import Events
from celery.events.dispatcher import EventDispatcher

from posts.redaction import redact


class RedactingDispatcher(EventDispatcher):
    """A failed task's event carries its exception and traceback."""

    def send(self, type: str, *arguments: Any, **fields: Any) -> Any:  # noqa: A002  Celery's name
        told: Any = {name: redact(field) if isinstance(field, str) else field for name, field in fields.items()}
        return super().send(type, *arguments, **told)


class RedactingEvents(Events):
    dispatcher_cls = "donate1024.task_events:RedactingDispatcher"
