"""What a log record says, as an alert in the curator's words."""

import logging
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext, gettext_noop
from kombu.exceptions import OperationalError as BrokerAway
from redis.exceptions import RedisError

from donate1024.alerts.models import LONGEST_KEY, Alert
from posts.database_away import DATABASE_AWAY
from posts.redaction import redact
from subscribers.models import storable

TO_DO = gettext_noop("What to do:")  # the third part of every alert of ours begins with it
UNFORESEEN = gettext_noop(
    "Something went wrong that nobody foresaw: %(what)s. Nobody gets a message twice because of it, and what stands "
    "still is told on its own. What to do: nothing at once; if it comes again, hand this on to whoever looks after "
    "the program."
)
CUT_SHORT = gettext_noop(
    "A part of the program could not go on: %(what)s. Nobody gets a message twice because of it, but what that part "
    "does stands still until it begins again. What to do: start donate1024 again; if this comes back, the logs say "
    "why."
)
# Where a library's record comes from, by the beginning of its logger's name.
PLACES = {
    "django": gettext_noop("on a page"),
    "uvicorn": gettext_noop("on a page"),
    "celery": gettext_noop("in the background"),
    "subscribers.bot": gettext_noop("in the bot"),
}
ELSEWHERE = gettext_noop("in the program")
# Anybody can bring these about from outside, or they repeat what the watch tells in its own words.
NOBODYS_BUSINESS = (
    "django.security",
    "celery.worker.consumer",
    "celery.beat",
    "flower.events",
    "kombu",
    "redis",
    "health",
)
SERVER_AWAY = (*DATABASE_AWAY, RedisError, BrokerAway)
LONGEST_TEXT, LONGEST_TECHNICAL, LONGEST_SECRET = 4000, 1000, 1000  # characters
OURS = ("donate1024", "delivery", "subscribers", "posts")


def is_alert(record: logging.LogRecord) -> bool:
    """Whether it says that something went wrong, or that a condition ended; of ERRORs some are nobody's business."""
    if is_end(record):
        return hasattr(record, "closes")
    if hasattr(record, "opens") or record.levelno >= logging.CRITICAL or is_ours(record):
        return True
    error = _error(record)
    is_answer = record.name == "django.request" and error is None  # a page that says 503 on purpose
    return not (is_answer or record.name.startswith(NOBODYS_BUSINESS) or isinstance(error, SERVER_AWAY))


def is_end(record: logging.LogRecord) -> bool:
    """Whether it tells of the end of a condition, or of nothing."""
    return record.levelno < logging.ERROR


def is_ours(record: logging.LogRecord) -> bool:
    """Whether its template has the three parts: what happened, what it means for people, what to do."""
    return TO_DO in _as_text(record.msg)


def key_of(record: logging.LogRecord) -> str:
    """What is one and the same alert: the condition, the template, or the place in the code."""
    condition = getattr(record, "opens", None) or getattr(record, "closes", None)
    if condition:
        return str(condition)[:LONGEST_KEY]
    error = _error(record)
    # A library may write anything into its template: there the place counts.
    what = _as_text(record.msg) if is_ours(record) else f"{record.funcName} {type(error).__name__} {_place(record)}"
    return f"{record.name[:100]}:{sha256(what.encode(errors='replace')).hexdigest()[:16]}"


def read(record: logging.LogRecord, *, at: datetime) -> Alert:
    """One sign of an alert, or of its end; translated, without secrets, fit to be stored."""
    began = at - timedelta(seconds=getattr(record, "silent_for", 0.0))
    facts = {"key": key_of(record), "first_at": began, "last_at": at}
    with translation.override(settings.LANGUAGE_CODE):
        if is_end(record):
            over = gettext(record.over) if hasattr(record, "over") else ""
            return Alert(**facts, is_condition=True, over=over, recovered_at=at)
        text = _in_words(record)
    return Alert(
        **facts,
        is_condition=hasattr(record, "opens"),
        count=1,
        text=_clean(text, LONGEST_TEXT),
        technical=_clean(_technical(record), LONGEST_TECHNICAL),
    )


def _in_words(record: logging.LogRecord) -> str:
    if not is_ours(record):
        place = next((words for name, words in PLACES.items() if record.name.startswith(name)), ELSEWHERE)
        error = _error(record)
        what = f"{type(error).__name__}, {gettext(place)}" if error else gettext(place)
        is_the_end = record.levelno >= logging.CRITICAL  # of Celery: "Unrecoverable error"
        return gettext(CUT_SHORT if is_the_end else UNFORESEEN) % {"what": what}
    translated = gettext(_as_text(record.msg))
    try:
        return translated % record.args if record.args else translated
    except Exception:  # noqa: BLE001 -- a translation with other placeholders: better in English than not
        return _said(record)


def _technical(record: logging.LogRecord) -> str:
    """For the operator: what the record has for them, or the error, what the library says, and where it was."""
    if hasattr(record, "technical"):
        return str(record.technical)
    error = _error(record)
    said = "" if is_ours(record) else _said(record)
    what = f"{type(error).__name__}: {_as_text(error)}" if error else ""
    return " · ".join(filter(None, [what, said, _place(record)]))


def _said(record: logging.LogRecord) -> str:
    """What it says; where that cannot be put together, its bare template."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 -- an argument may raise anything
        return _as_text(record.msg)


def _as_text(thing: object) -> str:
    try:
        return str(thing)
    except Exception:  # noqa: BLE001 -- as above
        return f"<{type(thing).__name__}>"


def _place(record: logging.LogRecord) -> str:
    """The line of ours that raised, or else the one that logged."""
    trace = record.exc_info[2] if record.exc_info else None
    raised = [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in walk_tb(trace)]
    logged = (record.pathname, record.lineno, record.funcName)
    of_ours = (place for place in reversed(raised) if _in_project(place[0]))
    file, line, function = next(of_ours, raised[-1] if raised else logged)
    return f"{_in_project(file) or Path(file).name}:{line} {function}"


def _in_project(filename: str) -> str:
    """The file as the project names it; empty for one of a library."""
    path = Path(filename)
    if not path.is_relative_to(settings.BASE_DIR):
        return ""
    inside = path.relative_to(settings.BASE_DIR)
    return str(inside) if inside.parts[0] in OURS else ""


def _error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _clean(text: str, longest: int) -> str:
    """Redacted before it is shortened: half a secret would not be recognised."""
    ends = longest + LONGEST_SECRET
    if len(text) > 2 * ends:  # to redact a megabyte would hold up whoever logs; what a cut may have halved goes too
        text = f"{redact(text[:ends])[:-LONGEST_SECRET]} … {redact(text[-ends:])[LONGEST_SECRET:]}"
    clean = str(storable(redact(text)))
    return clean if len(clean) <= longest else f"{clean[: longest // 2]} … {clean[-longest // 2 + 3 :]}"
