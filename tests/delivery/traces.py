"""What an act left behind in the queue and in the log."""

import base64
import json
import logging
from typing import Any

import pytest
import redis


def queued(broker: redis.Redis) -> list[dict[str, Any]]:
    """The messages that wait for the senders, the last one first; `body` decoded: args, kwargs and Celery's own."""
    waiting: Any = broker.lrange("telegram", 0, -1)
    messages = [json.loads(message) for message in waiting]
    return [message | {"body": json.loads(base64.b64decode(message["body"]))} for message in messages]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
