import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from celery import current_app
from kombu import Connection, Queue

from donate1024.celery import app

if TYPE_CHECKING:
    from celery.app.task import Task

TOKEN = "987654321:AAH-tests-aaaaaaaaaaaaaaaaaaaaaaaaaaa"
current_app.loader.import_default_modules()
OURS = [task for name, task in sorted(current_app.tasks.items()) if not name.startswith("celery.")]


def test_a_failed_tasks_error_is_redacted_before_it_leaves_the_worker() -> None:
    with Connection("memory://") as connection, app.events.Dispatcher(connection) as dispatcher:
        queue = Queue("told", exchange=dispatcher.exchange, routing_key="task.*", channel=connection.default_channel)
        queue.declare()

        dispatcher.send("task-failed", exception=f"ValueError('{TOKEN}')", traceback=f"ValueError: {TOKEN}")

        message = queue.get(no_ack=True)

    assert message is not None
    event = message.payload
    assert event["exception"] == "ValueError('[TELEGRAM_BOT_TOKEN]')"
    assert event["traceback"] == "ValueError: [TELEGRAM_BOT_TOKEN]"


def test_a_worker_that_is_asked_for_its_configuration_tells_celerys_own_only() -> None:
    assert "CELERY_BROKER_URL" in app.conf.table()
    assert [name for name in app.conf.table() if name.isupper() and not name.startswith("CELERY_")] == []


@pytest.mark.parametrize("task", OURS, ids=lambda task: task.name)
def test_a_task_takes_numbers_of_rows_by_name_and_nothing_else(task: "Task[Any, Any]") -> None:
    """Arguments lie in Valkey, in the logs and in Flower for everybody who looks."""
    kinds = {parameter.kind for parameter in inspect.signature(task.run).parameters.values()}
    types = {kind for name, kind in get_type_hints(task.run).items() if name != "return"}

    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}
    assert types <= {int}
