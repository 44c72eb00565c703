"""By which route people are told: Telegram, or else e-mail."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from donate1024.alerts import mail, telegram
from donate1024.alerts.audience import Audience
from donate1024.alerts.models import RETRY_AFTER, Alert
from donate1024.alerts.wording import Message
from subscribers.telegram.outcomes import ChannelError, Flooded

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Told:
    """By which route it went; by none: when to try again. And what was in the way."""

    route: str
    retry_after: timedelta = RETRY_AFTER
    telegram_fault: ChannelError | None = None
    mail_fault: Exception | None = None


def tell(message: Message, audience: Audience, *, with_sound: bool) -> Told:
    """Tell everybody in the admin chats; only if none of them can be told, by e-mail. Raises nothing.

    It takes about 10 s for each route at most. A flood wait of up to a minute is waited for instead of mailing.
    """
    try:
        telegram.send(message, audience, with_sound=with_sound)
    except Flooded as flood:
        if flood.wait <= RETRY_AFTER:
            return Told(Alert.Route.NONE, flood.wait, flood)
        return _mail(message, flood)
    except ChannelError as fault:
        return _mail(message, fault)
    return Told(Alert.Route.TELEGRAM)


def _mail(message: Message, telegram_fault: ChannelError) -> Told:
    logger.warning("An alert did not go by Telegram: %s", type(telegram_fault).__name__)
    if not settings.ALERT_EMAILS:
        return Told(Alert.Route.NONE, telegram_fault=telegram_fault)
    try:
        mail.send(message)
    except (OSError, ValueError) as fault:  # ValueError: an address or a header that cannot be written
        logger.warning("An alert did not go by e-mail: %s", type(fault).__name__)
        return Told(Alert.Route.NONE, telegram_fault=telegram_fault, mail_fault=fault)
    return Told(Alert.Route.EMAIL, telegram_fault=telegram_fault)
