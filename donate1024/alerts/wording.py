"""How an alert reads on a phone and in a mail."""

import html
import re
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from donate1024.alerts.models import PERIOD, SENTENCE_ENDS, Alert
from donate1024.alerts.reading import TO_DO

# UTF-16 units, as Telegram counts at its strictest: together, with the link, they stay below its 4096.
LONGEST = {"title": 300, "meaning": 2000, "to_do": 700, "technical": 700}


@dataclass(frozen=True)
class Message:
    """What is told of one alert, each part within its limit."""

    icon: str
    title: str
    meaning: str
    to_do: str
    technical: str = ""

    def as_html(self, *, for_operator: bool) -> str:
        """For Telegram: everything is escaped, only the title is bold."""
        link = [f'<a href="{html.escape(_desk())}">{html.escape(_("All alerts, on the desk"))}</a>'] if _desk() else []
        technical = [f"<code>{html.escape(self.technical)}</code>"] if for_operator and self.technical else []
        parts = [html.escape(part, quote=False) for part in (self.meaning, self.to_do) if part]
        return "\n\n".join([f"{self.icon} <b>{html.escape(self.title, quote=False)}</b>", *parts, *link, *technical])

    def as_text(self) -> str:
        return "\n\n".join(filter(None, [self.title, self.meaning, self.to_do, _desk(), self.technical]))


def message(alert: Alert) -> Message:
    """What is to be told of it now: that it began, how often it came since, or that it is over."""
    with translation.override(settings.LANGUAGE_CODE):
        title, meaning, to_do = parts(alert.text)
        if alert.recovered_at:
            over = alert.over or _("It is over: “%s”") % title
            return _message("✅", over, _history(alert), _("What to do: nothing more."))
        if alert.told_at:
            return _message("🔁", title, _history(alert), to_do, alert.technical)
        return _message("🔴", title, meaning, to_do, alert.technical)


def trial() -> Message:
    """What the button on the desk sends."""
    with translation.override(settings.LANGUAGE_CODE):
        return _message("🔔", *parts(_("This is a trial. Alerts reach you here. What to do: nothing.")))


def _message(icon: str, title: str, meaning: str, to_do: str, technical: str = "") -> Message:
    given = {"title": title, "meaning": meaning, "to_do": to_do, "technical": technical}
    return Message(icon, **{name: _cut(text, LONGEST[name]) for name, text in given.items()})


def parts(text: str) -> tuple[str, str, str]:
    """What happened, in one sentence; what it means for people; what to do."""
    marks = "|".join(re.escape(mark) for mark in {TO_DO, _(TO_DO)})
    told, mark, to_do = [*re.split(f"({marks})", text, maxsplit=1), "", ""][:3]
    title, *meaning = SENTENCE_ENDS.split(told.strip(), maxsplit=1)
    return title, " ".join(meaning), mark + to_do.rstrip()


def _history(alert: Alert) -> str:
    since = when(alert.first_at, beside=alert.recovered_at or alert.last_at)
    told = []
    if alert.recovered_at and alert.is_condition:
        facts = {"since": since, "until": when(alert.recovered_at)}
        told = [
            (
                _("It lasted from %(since)s to %(until)s.")
                if since != facts["until"]
                else _("It was at %(since)s, for a moment.")
            )
            % facts
        ]
    elif alert.recovered_at:
        told = [_("It has not come again for %s minutes.") % int(PERIOD.total_seconds() // 60)]
    if alert.count > 1:
        told += [_("Since %(since)s it was noticed so many times: %(count)s.") % {"since": since, "count": alert.count}]
    return " ".join(told)


def when(at: datetime, *, beside: datetime | None = None) -> str:
    """The time of day, and the day too where that is another than `beside`'s."""
    local = timezone.localtime(at)
    is_same_day = beside is None or local.date() == timezone.localtime(beside).date()
    return date_format(local, "H:i" if is_same_day else "j E, H:i")


def _cut(text: str, longest: int) -> str:
    """Shortened to so many UTF-16 units, half a character never among them."""
    encoded = text.encode("utf-16-le")
    if len(encoded) <= 2 * longest:
        return text
    return encoded[: 2 * (longest - 1)].decode("utf-16-le", errors="ignore") + "…"


def _desk() -> str:
    """The address of the list of alerts; empty while nobody could open it."""
    return settings.SITE_URL.rstrip("/") + reverse("admin:alerts_alert_changelist") if settings.SITE_URL else ""
