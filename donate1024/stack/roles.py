"""The processes that the application consists of, each as its command."""

from dataclasses import replace

from donate1024.stack.environment import SENDERS
from donate1024.stack.processes import Process
from donate1024.stack.state import Place

# Quietly: Celery's banner, which it prints past the logging, would end a process that starts on a full disk.
CELERY = ("-m", "celery", "-q", "-A", "donate1024")
# Workers here find each other through the database: no second lost on greeting, no chatter.
ALONE = ("--without-mingle", "--without-gossip")
READY = " ready."
# A slice that is told to stop finishes its calls (30 s at most) and gives back the rest.
TELEGRAM_GRACE = 45.0


def sandbox(place: Place, *, port: int, rate: int) -> Process:
    arguments = ("--port", str(port), "--state", str(place.state), "--rate", str(rate))
    return Process("sandbox", "-m", "donate1024.sandbox", *arguments, place=place, port=port)


def web(place: Place, *, port: int) -> Process:
    arguments = ("donate1024.asgi:application", "--host", "127.0.0.1", "--port", str(port))
    return Process("web", "-m", "uvicorn", *arguments, place=place, port=port)


def bot(place: Place) -> Process:
    return Process("bot", "manage.py", "run_bot", place=place, says="The bot listens")


def telegram_worker(place: Place) -> Process:
    senders = place.env.get("TELEGRAM_SENDERS") or str(SENDERS)
    return _worker("telegram", "-Q", "telegram", "-c", senders, place=place, grace=TELEGRAM_GRACE)


def default_worker(place: Place) -> Process:
    return _worker("default", "-Q", "bluesky,default", "-c", "2", place=place, grace=10.0)


def beat(place: Place) -> Process:
    arguments = ("beat", "-l", "info", "--pidfile=")
    return Process("beat", *CELERY, *arguments, place=place, says="The clocks of this host and of the database agree")


def flower(place: Place, *, port: int) -> Process:
    return Process("flower", *CELERY, "flower", "--conf=flowerconfig.py", place=place, port=port)


def _worker(name: str, *arguments: str, place: Place, grace: float) -> Process:
    # Without the lock: when all was killed, its answers wait for the database, and that for the next start.
    place = replace(place, keep_open=())
    command = (*CELERY, "worker", "-E", "-l", "info", "-n", f"{name}@%h", *ALONE, *arguments)
    return Process(name, *command, place=place, says=READY, grace=grace)
