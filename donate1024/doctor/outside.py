"""Whoever else we depend on: the mail server, the monitor outside, Bluesky, Gemini.

Both libraries are imported where they are used: together they take two seconds, and most need neither.
"""

from http import HTTPStatus
from smtplib import SMTPAuthenticationError
from uuid import uuid4

from django.conf import settings
from django.core.mail import get_connection

from donate1024.doctor.examining import Mend, Off
from donate1024.watch import outside_monitor

ANSWER_WITHIN = 5.0  # seconds


def second_route() -> str:
    if not settings.ALERT_EMAILS:
        raise Off("none: no alert comes while Telegram is down or refuses the bot. Set EMAIL_URL and ALERT_EMAILS")
    server = get_connection(timeout=ANSWER_WITHIN)
    try:
        server.open()
    except SMTPAuthenticationError:
        raise Mend("the mail server refuses the login. Look at user and password in EMAIL_URL") from None
    except OSError as error:  # smtplib's own errors among them
        raise Mend(f"the mail server does not answer ({error}). Look at EMAIL_URL") from None
    finally:
        server.close()
    return f"mail to {', '.join(settings.ALERT_EMAILS)}; the server takes the login"


def monitor() -> str:
    if not settings.HEARTBEAT_URL:
        raise Off("nobody watches this machine from outside. Put a check of healthchecks.io into HEARTBEAT_URL")
    try:
        outside_monitor.ping("log", run=uuid4(), log="The doctor asks whether you hear it.")
    except outside_monitor.NotHeard as error:
        raise Mend(f"it does not hear us ({error}). See whether HEARTBEAT_URL's check still exists") from None
    return "hears us"


def bluesky() -> str:
    if not settings.BLUESKY_HANDLE:
        raise Off("not set up. BLUESKY_HANDLE and BLUESKY_APP_PASSWORD turn it on")
    from atproto import Client, Request, exceptions  # noqa: PLC0415

    client = Client(settings.BLUESKY_URL, request=Request(timeout=ANSWER_WITHIN))
    try:
        client.login(settings.BLUESKY_HANDLE, settings.BLUESKY_APP_PASSWORD, fetch_bsky_profile=False)
    except exceptions.UnauthorizedError:
        raise Mend("refuses the login. Look at BLUESKY_HANDLE, and make a new app password on Bluesky") from None
    except exceptions.RateLimitExceededError:
        raise Mend("has seen too many logins of late. Ask again in some minutes") from None
    return f"takes the login of {settings.BLUESKY_HANDLE}"


def gemini() -> str:
    if not settings.GEMINI_API_KEY:
        raise Off("not set up: only the mechanical checks read suggestions. GEMINI_API_KEY turns it on")
    from google import genai  # noqa: PLC0415
    from google.genai import errors, types  # noqa: PLC0415

    patience = types.HttpOptions(base_url=settings.GEMINI_API_URL, timeout=int(ANSWER_WITHIN * 1000))
    client = genai.Client(api_key=settings.GEMINI_API_KEY, vertexai=False, http_options=patience)
    models = {"GEMINI_MODEL": settings.GEMINI_MODEL, "GEMINI_FALLBACK_MODEL": settings.GEMINI_FALLBACK_MODEL}
    for name, model in models.items():
        try:
            client.models.get(model=model)
        except errors.ClientError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                raise Mend(f"knows no model {model}. Put another one into {name}") from None
            raise Mend(f"refuses the key ({error.code} {error.message}). Look at GEMINI_API_KEY") from None
    return f"takes the key, and knows {' and '.join(models.values())}"
