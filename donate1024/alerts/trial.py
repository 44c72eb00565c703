"""A trial alert: by which route it arrived, or what is to be mended."""

from django.utils.translation import gettext as _

from donate1024.alerts import audience, routes, wording
from donate1024.alerts.models import Alert
from subscribers.telegram.outcomes import ChannelError, Flooded, RecipientGone, TokenRefused


def send() -> tuple[bool, str]:
    """Send one as an alert goes, in half a minute at most; whether it arrived as it should, and what to say of it."""
    told = routes.tell(wording.trial(), audience.read(), with_sound=True)
    if told.telegram_fault is None:
        return True, _("The trial alert is in Telegram, in the admin chats.")
    to_mend = _to_mend(told.telegram_fault)
    if told.route == Alert.Route.EMAIL:
        return False, " ".join([to_mend, _("By e-mail it went out, to ALERT_EMAILS.")])
    if told.mail_fault:
        fault = type(told.mail_fault).__name__
        return False, " ".join([to_mend, _("By e-mail it did not go either (%s): check EMAIL_URL.") % fault])
    return False, " ".join([to_mend, _("There is no second route: ALERT_EMAILS and EMAIL_URL would be one.")])


def _to_mend(fault: ChannelError) -> str:
    match fault:
        case TokenRefused():
            return _("Telegram refuses the bot's token: check TELEGRAM_BOT_TOKEN.")
        case Flooded(wait=wait):
            return _("Telegram asks to wait for %s s: try again then.") % round(wait.total_seconds())
        case RecipientGone():
            return _(
                "No admin chat takes it: open the bot there and press Start, or link another (`manage.py link_chat`)."
            )
    return _("Telegram did not take it (%s): check the network.") % fault
