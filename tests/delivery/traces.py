"""What an act left behind in the queue and in the log."""

import base64
import json
import logging
from typing import Any

import pytest
import redis

from delivery.advice import what_to_do
from delivery.models import Broadcast


def queued(broker: redis.Redis) -> list[dict[str, Any]]:
    """The messages that wait for the senders, the last one first; `body` decoded: args, kwargs and Celery's own."""
    waiting: Any = broker.lrange("telegram", 0, -1)
    messages = [json.loads(message) for message in waiting]
    return [message | {"body": json.loads(base64.b64decode(message["body"]))} for message in messages]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def conditions(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the records say of conditions, in their order: `opens ...`, `closes ...`."""
    return [
        f"{verb} {condition}"
        for record in caplog.records
        for verb in ("opens", "closes")
        if (condition := getattr(record, verb, None))
    ]


def pause_alert(broadcast: Broadcast, reason: str) -> str:
    return (
        f"The broadcast of {broadcast.date} is paused because: {reason}. "
        f"Whoever has not got it yet waits until a person decides. What to do: {what_to_do(reason)}"
    )
