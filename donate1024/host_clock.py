"""The host's clock beside the database's: a worker or beat that disagrees with it does not start."""

import logging
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from socket import gethostname

from django.conf import settings
from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, gettext_noop

from posts.database_away import DATABASE_AWAY

logger = logging.getLogger(__name__)

# Seconds. Beyond it a tick, which expires after 55 s by its sender's clock, would be thrown away by its worker.
MOST_APART = 30.0
ASK_AGAIN_AFTER = 1.0  # seconds
TELEGRAM_ANSWERS_WITHIN = 5.0  # seconds

AHEAD, BEHIND = _("ahead of"), _("behind")
OURS_IS_WRONG = _("By Telegram's clock this computer's is the wrong one.")
DATABASES_IS_WRONG = _("By Telegram's clock the database's is the wrong one.")
NOBODY_KNOWS = _("Telegram, whose clock would tell which one is wrong, cannot be reached.")


def refuse_wrong(**_signal: object) -> None:
    """Return when this host's clock agrees with the database's; a database that is away is waited for.

    The sandbox's offset plays no part: these are the real clocks.

    Raises:
        SystemExit: when they disagree. Celery goes on after any other exception of a signal's receiver.
    """
    ahead, condition = _wait_for_database(), f"clock:{gethostname()}"
    if abs(ahead) > MOST_APART:
        logger.critical(
            gettext_noop(
                "The clock of the computer %s is %.0f s %s the database's. %s No fundraiser goes out from there. "
                "What to do: set the wrong one by a time server (`timedatectl set-ntp true`); then it goes on."
            ),
            gethostname(),
            abs(ahead),
            AHEAD if ahead > 0 else BEHIND,
            _suspicion(ahead),
            extra={"opens": condition},
        )
        raise SystemExit(1)
    logger.info("The clocks of this host and of the database agree", extra={"closes": condition})


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
        except DATABASE_AWAY as error:
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


def _suspicion(ahead: float) -> Promise:
    """Which of the two is probably wrong: by Telegram's clock."""
    host = ahead_of_telegram()
    if host is None:
        return NOBODY_KNOWS
    return OURS_IS_WRONG if abs(host) > abs(host - ahead) else DATABASES_IS_WRONG


def _telegram_time() -> float:
    request = urllib.request.Request(settings.TELEGRAM_API_URL, method="HEAD")  # noqa: S310 -- checked in settings
    try:
        with urllib.request.urlopen(request, timeout=TELEGRAM_ANSWERS_WITHIN) as answer:  # noqa: S310
            date = answer.headers["Date"]
    except urllib.error.HTTPError as refusal:  # any answer has the time
        with refusal:
            date = refusal.headers["Date"]
    return parsedate_to_datetime(date).timestamp()
