"""The second route: e-mail to ALERT_EMAILS."""

from django.conf import settings
from django.core.mail import EmailMessage

from donate1024.alerts.wording import Message


def send(message: Message) -> None:
    """Hand it to the mail server, which gets EMAIL_TIMEOUT for each of its answers.

    Raises:
        OSError: the server did not take it; smtplib's errors are among these.
    """
    subject = " ".join(f"donate1024 {message.icon} {message.title}".split())
    EmailMessage(subject, message.as_text(), to=settings.ALERT_EMAILS).send()
