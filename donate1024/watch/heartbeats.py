"""Giving signs of life. It imports no model: Celery reads it before there are any."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

if TYPE_CHECKING:
    from celery import Task

logger = logging.getLogger(__name__)

BREAK_AFTER = 75.0  # seconds between two signs: the part was away, or the whole machine was
EVERY = 60.0  # seconds: the longest interval at which beat sends any of them
PROOF = "watch.prove_queue"  # the task that does nothing but this
BEAT = """
INSERT INTO watch_heartbeat AS known (name, at, since, detail)
SELECT %(name)s, moment, moment, %(detail)s::jsonb || jsonb_build_object(
    'ahead', round(%(host_time)s::numeric - extract(epoch FROM clock_timestamp()), 1))
FROM (SELECT clock_timestamp() - make_interval(secs => %(ago)s) AS moment) AS sign
ON CONFLICT (name) DO UPDATE SET at = excluded.at, detail = known.detail || excluded.detail,
    since = CASE WHEN excluded.at - known.at > make_interval(secs => %(break_after)s)
        THEN excluded.at ELSE least(known.since, excluded.at) END
"""


@dataclass(frozen=True)
class Sign:
    """One sign of life, given so many seconds ago."""

    name: str
    ago: float = 0.0
    break_after: float = BREAK_AFTER
    detail: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        """For BEAT."""
        return {
            "name": self.name,
            "ago": self.ago,
            "break_after": self.break_after,
            "detail": json.dumps(dict(self.detail)),
            "host_time": time.time(),
        }


def give(*signs: Sign) -> None:
    with connection.cursor() as cursor:
        for sign in signs:
            cursor.execute(BEAT, sign.parameters())


def task_succeeded(*, sender: "Task[Any, Any]", **_signal: object) -> None:
    """A task that came to its end proves its queue, and the workers behind it; one of beat's proves itself too."""
    queue = (sender.request.delivery_info or {}).get("routing_key")
    names = [f"queue:{queue}"] if queue in settings.WATCHED_QUEUES else []
    if sender.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} - {PROOF}:
        names.append(f"task:{sender.name}")
    try:
        give(*(Sign(name, break_after=2 * EVERY) for name in names))
    except (DatabaseError, InterfaceError) as error:  # its silence will tell
        logger.warning("no sign of life from %s: %s", sender.name, error)
