"""How an alert reads, to whom, and whether it rings."""

import logging
from datetime import date, time as time_of_day
from typing import Any

import pytest
from django.conf import LazySettings

from donate1024.alerts import reading
from donate1024.alerts.folding import Folding
from donate1024.alerts.handler import AlertHandler
from donate1024.alerts.models import Alert
from posts import clock
from subscribers.admin_chats import AdminChat, Role
from tests.donate1024.alerts.conftest import CURATOR, ROOF, Clock, Phone
from tests.factories import make_broadcast, make_schedule
from tests.sandbox_process import SandboxProcess

pytestmark = pytest.mark.django_db(transaction=True)

DAY = date(2026, 1, 15)


def fail(error: Exception) -> None:
    raise error


def test_a_curator_is_spared_the_technical_line_of_an_operator(
    log: logging.Logger, process: Folding, telegram: SandboxProcess, phone: Phone, settings: LazySettings
) -> None:
    AdminChat.objects.create(chat_id=CURATOR, role=Role.CURATOR, linked_at=clock.now())
    curators = Phone(telegram, CURATOR)
    settings.SITE_URL = "https://example.org"

    try:
        [].pop()
    except IndexError:
        log.exception("rain %d", 5)
    process.flush(within=30)

    (told,), (to_operator,) = curators.messages(), phone.texts()
    assert "nobody foresaw: IndexError, in the program." in told["text"]
    assert "What to do:" in told["text"]
    assert "pop from empty list" not in told["text"]
    assert "IndexError: pop from empty list · rain 5 · test_messages.py" in to_operator
    assert 'href="https://example.org/admin/alerts/alert/"' in told["html"]


@pytest.mark.parametrize("name", ["celery.worker", "celery.beat"])
def test_what_ended_a_process_asks_to_start_it_again(
    name: str, handler: AlertHandler, process: Folding, phone: Phone
) -> None:
    trace = (OSError, OSError("no room"), None)
    handler.handle(logging.LogRecord(name, logging.CRITICAL, __file__, 1, "Unrecoverable error: %r", ("x",), trace))
    process.flush(within=30)

    (told,) = phone.texts()
    assert "could not go on: OSError, in the background." in told
    assert "What to do: start donate1024 again" in told


def test_there_is_no_link_without_a_public_address(log: logging.Logger, process: Folding, phone: Phone) -> None:
    log.error(ROOF, 1)
    process.flush(within=30)

    assert "http" not in str(phone.messages())


HOSTILE = {
    "markup": ("<b>bold</b> & <script>", "<b>bold</b> & <script>"),
    "placeholders": ("%s %d %(x)s 100%", "%s %d %(x)s 100%"),
    "wide characters": ("🧨" * 10_000, "🧨🧨🧨"),
    "length": ("x" * 10_000, "xxx"),
    "no characters": ("nul \0 and half \ud83d a pair", "nul  and half ? a pair"),
    "what grows when escaped": ("</code></b>" * 300, "</code></b>"),
}


@pytest.mark.parametrize(("hostile", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_arrives_as_it_is_and_fits(
    handler: AlertHandler, process: Folding, phone: Phone, hostile: str, shown: str
) -> None:
    template, error = "The roof leaks. It said: %s. What to do: take an umbrella.", ValueError(hostile)
    trace = (ValueError, error, None)

    # Not through a logger: pytest cannot carry half a character from one of its processes to another.
    handler.handle(logging.LogRecord("posts", logging.ERROR, __file__, 1, template, (hostile,), trace))
    process.flush(within=30)

    (text,) = phone.texts()
    assert shown in text
    assert "What to do: take an umbrella." in text
    assert len(text.encode("utf-16-le")) <= 2 * 4096


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


# What cannot be put together: template, argument, error; and what stands in its place.
UNSPEAKABLE: dict[str, tuple[object, object, Exception | None, str]] = {
    "a placeholder of another type": ("boom %d", "x", None, "boom %d · test_messages.py"),
    "an argument": ("boom %s", Unspeakable(), None, "boom %s · test_messages.py"),
    "an argument of ours": ("The roof %s. What to do: run.", Unspeakable(), None, "The roof %s."),
    "an error": ("boom %s", 1, Unspeakable(), "Unspeakable: <Unspeakable> · boom 1"),
    "a template": (Unspeakable(), 1, None, "<Unspeakable> · test_messages.py"),
}


@pytest.mark.parametrize(("template", "argument", "error", "shown"), UNSPEAKABLE.values(), ids=UNSPEAKABLE)
def test_what_cannot_be_formatted_is_told_all_the_same(
    handler: AlertHandler,
    process: Folding,
    phone: Phone,
    template: object,
    argument: object,
    error: Exception | None,
    shown: str,
) -> None:
    trace = (type(error), error, None) if error else None

    handler.handle(logging.LogRecord("posts", logging.ERROR, __file__, 1, template, (argument,), trace))
    process.flush(within=30)

    assert shown in phone.texts()[0]


def test_of_a_megabyte_only_the_ends_are_read_and_no_secret_is_cut_in_half(settings: LazySettings) -> None:
    secret = settings.SECRET_KEY = "s3cret-" * 10
    ends = reading.LONGEST_TEXT + reading.LONGEST_SECRET

    for before in range(ends - len(secret), ends, 5):
        # What is blotted out shrinks: the cut comes into sight.
        text = secret * (before // len(secret)) + "x" * (before % len(secret)) + secret + "y" * 1_000_000
        record = logging.LogRecord("posts", logging.ERROR, __file__, 1, "%s What to do: run.", (text,), None)
        alert = reading.read(record, at=clock.now())

        assert "s3cret" not in alert.text
        assert alert.text.endswith("What to do: run.")


def test_secrets_are_told_to_nobody(
    log: logging.Logger, process: Folding, phone: Phone, settings: LazySettings
) -> None:
    try:
        fail(OSError(f"http://x/bot{settings.TELEGRAM_BOT_TOKEN}/getMe"))
    except OSError:
        log.exception("%s. What to do: nothing.", settings.SECRET_KEY)
    process.flush(within=30)

    alert = Alert.objects.get()
    for told in (phone.texts()[0], alert.text + alert.technical):
        assert settings.SECRET_KEY not in told
        assert settings.TELEGRAM_BOT_TOKEN not in told
        assert "[TELEGRAM_BOT_TOKEN]" in told


NIGHT = {
    "by day": ("12:00", {}, False),
    "late in the evening": ("21:59", {}, False),
    "from ten on": ("22:00", {}, True),
    "before seven": ("06:59", {}, True),
    "at seven": ("07:00", {}, False),
    "61 minutes before the hour": ("06:59", {"send_at": time_of_day(8)}, True),
    "50 minutes before the hour": ("06:30", {"send_at": time_of_day(7, 20)}, False),
    "before the hour, which is after midnight": ("23:30", {"send_at": time_of_day(0, 20)}, False),
    "before the hour of a schedule that is off": ("06:30", {"send_at": time_of_day(7), "is_enabled": False}, True),
}


@pytest.mark.parametrize(("hour", "schedule", "is_silent"), NIGHT.values(), ids=NIGHT)
def test_at_night_it_comes_without_a_sound_unless_a_run_is_near(
    log: logging.Logger,
    process: Folding,
    phone: Phone,
    time: Clock,
    hour: str,
    schedule: dict[str, Any],
    is_silent: bool,  # noqa: FBT001
) -> None:
    time.set(clock.local_moment(DAY, time_of_day.fromisoformat(hour)))
    if schedule:
        make_schedule(**schedule)

    log.error(ROOF, 1)
    process.flush(within=30)

    assert [message["is_silent"] for message in phone.messages()] == [is_silent]


def test_at_night_it_rings_while_a_run_is_not_finished(
    log: logging.Logger, process: Folding, phone: Phone, time: Clock
) -> None:
    time.set(clock.local_moment(DAY, time_of_day(23, 30)))
    make_broadcast(date=DAY)

    log.error(ROOF, 1)
    process.flush(within=30)

    assert [message["is_silent"] for message in phone.messages()] == [False]
