"""The host's clock beside the database's: a worker or beat that disagrees with it does not start."""

import logging
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)

# Seconds. Beyond it a tick, which expires after 55 s by its sender's clock, would be thrown away by its worker.
MOST_APART = 30.0
ASK_AGAIN_AFTER = 1.0  # seconds
TELEGRAM_ANSWERS_WITHIN = 5.0  # seconds


def refuse_wrong(**_signal: object) -> None:
    """Return when this host's clock agrees with the database's; a database that is away is waited for.

    The sandbox's offset plays no part: these are the real clocks.

    Raises:
        SystemExit: when they disagree. Celery goes on after any other exception of a signal's receiver.
    """
    ahead = _wait_for_database()
    if abs(ahead) > MOST_APART:
        logger.critical(
            "This host's clock is %.0f s %s the database's. %s "
            "What to do: set the wrong one by a time server (`timedatectl set-ntp true`); nothing runs here before",
            abs(ahead),
            "ahead of" if ahead > 0 else "behind",
            _suspicion(ahead),
        )
        raise SystemExit(1)
    logger.info("The clocks of this host and of the database agree")


def ahead_of_database() -> float:
    """Seconds that this host is ahead, at least: the time that the answer took is in its favour."""
    before, database, after = time.time(), _database_time(), time.time()
    return before - database if before > database else min(after - database, 0.0)


def ahead_of_telegram() -> float | None:
    """Seconds that this host is ahead of Telegram, whose clock belongs to nobody here; None if it does not answer."""
    try:
        return time.time() - _telegram_time()
    except (OSError, ValueError, TypeError):
        return None


def _wait_for_database() -> float:
    is_told = False
    while True:
        try:
            return ahead_of_database()
        except (OperationalError, InterfaceError) as error:
            if not is_told:
                logger.warning("The database does not answer, so its clock cannot be compared yet: waiting. %s", error)
                is_told = True
            time.sleep(ASK_AGAIN_AFTER)


def _database_time() -> float:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float")
            (moment,) = cursor.fetchone()
        return float(moment)
    finally:
        connection.close()  # the children, which are forked after this, must not share it


def _suspicion(ahead: float) -> str:
    """Which of the two is probably wrong: by Telegram's clock."""
    host = ahead_of_telegram()
    if host is None:
        return "Telegram, whose clock would tell which one is wrong, cannot be reached."
    whose = "this host's" if abs(host) > abs(host - ahead) else "the database's"
    return f"By Telegram's clock {whose} is the wrong one."


def _telegram_time() -> float:
    request = urllib.request.Request(settings.TELEGRAM_API_URL, method="HEAD")  # noqa: S310 -- checked in settings
    try:
        with urllib.request.urlopen(request, timeout=TELEGRAM_ANSWERS_WITHIN) as answer:  # noqa: S310
            date = answer.headers["Date"]
    except urllib.error.HTTPError as refusal:  # any answer has the time
        with refusal:
            date = refusal.headers["Date"]
    return parsedate_to_datetime(date).timestamp()
