"""What the database knows of the parts at work, and of whether a morning may go out."""

from datetime import timedelta
from math import inf

from django.conf import settings
from django.db.models import Min
from django.db.models.functions import Now

from delivery import reasons
from delivery.models import DailySchedule, SendingLock
from donate1024.doctor.examining import Mend, Off
from donate1024.watch.heartbeats import BREAK_AFTER
from donate1024.watch.judging import Finding, Look, judge
from donate1024.watch.looking import look
from donate1024.watch.models import Heartbeat
from posts import clock
from posts.event_loop import run_without_waiting
from subscribers.models import PollingConflict
from subscribers.telegram.client import bot_id


def processes() -> str:
    """By their signs of life and the watch's rules; of a start, the first minutes are no fault."""
    if causes := [_silence(found) for found in _silent() if found.rule.part != "polling"]:
        raise Mend(f"{'; '.join(causes)}. `make run` starts what does not run; its logs say why it stopped")
    return "none is silent"


def hearing() -> str:
    """Asked only where Telegram answers the doctor: what keeps everybody from hearing it has its own line."""
    for found in _silent():
        if found.rule.part == "bot":
            raise Off("the bot does not run")
        if found.rule.part == "polling":
            raise Mend(f"{_silence(found)}, though Telegram answers. Start donate1024 again; the log “bot” says why")
    return "the bot hears Telegram"


def _silent() -> list[Finding]:
    """Without what follows from another's silence."""
    seen = run_without_waiting(look())
    if seen.troubles:
        raise Off("not known while one of the servers is silent")
    silent = [found for found in judge(Look(seen.ages, awake_for=inf, watched_for=_running_for())) if found.is_red]
    # The watch waits where a cause is in doubt, and looks again; here is one look only.
    parts = {found.rule.part for found in silent}
    return [found for found in silent if parts.isdisjoint(found.rule.causes)]


def _running_for() -> float:
    """Seconds since the first of those that live began; for ever, where none lives."""
    alive = Heartbeat.objects.filter(at__gt=Now() - timedelta(seconds=BREAK_AFTER))
    since: timedelta | None = alive.aggregate(since=Now() - Min("since"))["since"]
    return since.total_seconds() if since else inf


def _silence(found: Finding) -> str:
    """The first sentence of its alert."""
    if found.age == inf:
        return f"{found.rule.part}: no sign of life yet"
    return (found.rule.text % found.minutes).partition(". ")[0]


def polling() -> str:
    if conflict := PollingConflict.objects.another_installation(at=clock.now()):
        who = "a webhook" if conflict.is_webhook else "another installation with this token"
        raise Mend(f"{who} gets the bot's messages, and nothing is planned. Stop one of the two")
    return "nobody else gets the bot's messages"


def schedule() -> str:
    found = DailySchedule.objects.first()
    if found is None or not found.is_enabled:
        raise Off("nothing goes out by itself. Turn the daily schedule on in the admin")
    return f"a fundraiser goes out every day at {found.send_at:%H:%M}"


def sending_lock() -> str:
    lock = SendingLock.objects.first()
    if lock is None:
        return "open"
    if lock.is_locked:
        raise Mend(f"sending is locked: {reasons.in_words(lock.reason)}. docs/operations.md says what to do")
    if settings.TELEGRAM_BOT_TOKEN and lock.bot_id not in {None, bot_id()}:
        raise Mend("this database belongs to another bot. Put its token back, or `manage.py broadcast unlock`")
    return "open"
