"""Every setting, read once from the environment; a wrong one stops the process with its name."""

import os
import sys
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environs import Env, EnvError, validate

from donate1024 import redis_urls
from donate1024.admin_looks import UNFOLD  # noqa: F401 -- the library reads it here
from donate1024.log_settings import LOGGING  # noqa: F401 -- Django reads it here
from donate1024.sandbox import TOKEN as SANDBOX_TOKEN
from donate1024.stack.environment import ROOT as BASE_DIR, SENDERS, load

COMMANDS_WITHOUT_A_BOT = {"makemigrations", "check", "makemessages", "compilemessages", "doctor"}

STATE_DIR = load(os.environ)
env = Env(eager=False)
_is_address = validate.URL(require_tld=False, schemes={"http", "https"})


def _are_mail_addresses(given: list[str]) -> None:
    for address in given:
        validate.Email()(address)


def _are_chats(given: list[str]) -> None:
    number = validate.Regexp(r"^\s*-?\d+\s*$", error="expects numbers of chats, as 123456789,-1001234567890; no @name")
    for chat in given:
        number(chat)


SANDBOX = env.bool("DONATE1024_SANDBOX", False)
TELEGRAM_BOT_TOKEN: str = env.str(
    "TELEGRAM_BOT_TOKEN",
    "",
    validate=validate.Regexp(
        r"^(\d{3,}:[\w-]{30,})?$", error="expects a token as @BotFather gives it, for example 123456789:AAF... "
    ),
)
TELEGRAM_API_URL: str = env.str("TELEGRAM_API_URL", "https://api.telegram.org", validate=_is_address)
TELEGRAM_MESSAGES_PER_SECOND: float = env.float(
    "TELEGRAM_MESSAGES_PER_SECOND", 25, validate=validate.Range(min=0.1, max=1000)
)
TELEGRAM_SENDERS: int = env.int("TELEGRAM_SENDERS", SENDERS, validate=validate.Range(min=1, max=64))
_admin_chats: list[str] = env.list("TELEGRAM_ADMIN_CHATS", [], validate=_are_chats)
SECRET_KEY: str = env.str("SECRET_KEY", "")
DEBUG: bool = env.bool("DEBUG", False)
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
SITE_URL: str = env.str(
    "SITE_URL",
    "",
    validate=validate.Regexp(r"^(https?://\S+)?$", error="expects an address such as https://example.org"),
)
TRUSTED_PROXY: bool = env.bool("TRUSTED_PROXY", False)
TIME_ZONE: str = env.str(
    "TIME_ZONE",
    "Europe/Kyiv",
    validate=validate.OneOf(available_timezones(), error="expects a time zone's name, for example Europe/Kyiv"),
)
_payment_amounts: str = env.str(
    "PAYMENT_AMOUNTS",
    "50,100,200,1024",
    # Telegram shows eight buttons in a row at most.
    validate=validate.Regexp(r"^[1-9]\d*( *, *[1-9]\d*){0,7}$", error="expects one to eight sums such as 50,100,200"),
)
JAR_AMOUNT_TEMPLATE: str = env.str(
    "JAR_AMOUNT_TEMPLATE",
    "a={amount}",
    validate=validate.Regexp(
        r"^([^{}\s]*\{amount\}[^{}\s]*)?$", error="expects a query such as a={{amount}}, or nothing"
    ),
)
SUPPORT_CONTACT: str = env.str("SUPPORT_CONTACT", "")
HEARTBEAT_URL: str = env.str(
    "HEARTBEAT_URL",
    "",
    validate=validate.Regexp(r"^(https?://\S+)?$", error="expects an address such as https://hc-ping.com/<uuid>"),
)
ALERT_EMAILS: list[str] = env.list("ALERT_EMAILS", [], subcast=str.strip, validate=_are_mail_addresses)
_mail: dict[str, Any] = env.dj_email_url("EMAIL_URL", "")
BLUESKY_HANDLE: str = env.str(
    "BLUESKY_HANDLE",
    "",
    validate=validate.Regexp(r"^([\w-]+(\.[\w-]+)+)?$", error="expects a handle such as name.bsky.social, without @"),
)
BLUESKY_APP_PASSWORD: str = env.str("BLUESKY_APP_PASSWORD", "")
BLUESKY_URL: str = env.str("BLUESKY_URL", "https://bsky.social", validate=_is_address)
GEMINI_API_KEY: str = env.str("GEMINI_API_KEY", "")
GEMINI_API_URL: str = env.str("GEMINI_API_URL", "https://generativelanguage.googleapis.com", validate=_is_address)
GEMINI_MODEL: str = env.str("GEMINI_MODEL", "gemini-3.8-flash")
GEMINI_FALLBACK_MODEL: str = env.str("GEMINI_FALLBACK_MODEL", "gemini-2.5-flash")
DATABASE: dict[str, Any] = env.dj_db_url("DATABASE_URL", ssl_require=False)
REDIS_URL: str = env.str(
    "REDIS_URL",
    validate=validate.Regexp(
        r"^(rediss?://[^/\s]+(/\d*)?|unix:///[^?\s]+(\?db=\d+)?)$",
        error="expects redis://host:6379/0, rediss://... or unix:///path?db=0",
    ),
)

try:
    env.seal()
except EnvError as error:
    wrong = getattr(error, "error_messages", {"": [str(error)]})
    lines = [f"{name}: {' '.join(map(str, messages))}" for name, messages in wrong.items()]
    raise ImproperlyConfigured("\n".join(["a setting is wrong.", *lines])) from None
TELEGRAM_ADMIN_CHATS = [int(chat) for chat in _admin_chats]


def _refuse(reason: str) -> None:
    raise ImproperlyConfigured(reason)


if DATABASE.get("ENGINE") != "django.db.backends.postgresql":
    _refuse("DATABASE_URL: expects postgres://user:password@host/name; no other database keeps the promises.")
if SANDBOX and TELEGRAM_BOT_TOKEN:
    _refuse("TELEGRAM_BOT_TOKEN: the sandbox takes no token; unset DONATE1024_SANDBOX to run a real bot.")
if SANDBOX and urlsplit(TELEGRAM_API_URL).hostname not in {"127.0.0.1", "localhost", "::1"}:
    _refuse("TELEGRAM_API_URL: the sandbox speaks to a stand-in on this machine only; expects http://127.0.0.1:PORT.")
if bool(BLUESKY_HANDLE) != bool(BLUESKY_APP_PASSWORD):
    _refuse("BLUESKY_HANDLE, BLUESKY_APP_PASSWORD: one is set without the other; Bluesky needs both, or neither.")
if not SANDBOX and not TELEGRAM_BOT_TOKEN and COMMANDS_WITHOUT_A_BOT.isdisjoint(sys.argv[1:2]):
    _refuse("TELEGRAM_BOT_TOKEN: not set. Put the bot's token into .env, or start the sandbox with `make run`.")
if any(_mail.values()) and not ("smtp" in _mail.get("EMAIL_BACKEND", "") and _mail["EMAIL_HOST"]):
    _refuse("EMAIL_URL: expects smtp://user:password@host:587/?tls=True, or submission://user:password@host.")
if ALERT_EMAILS and not any(_mail.values()):
    _refuse("EMAIL_URL: not set, and ALERT_EMAILS is; expects smtp://user:password@host:587/?tls=True.")
if not SECRET_KEY:
    if (SANDBOX or TELEGRAM_BOT_TOKEN) and sys.argv[1:2] != ["doctor"]:  # which names it beside all the rest
        _refuse("SECRET_KEY: not set. `make run` makes one; any other start needs 50 random characters.")
    SECRET_KEY = get_random_secret_key()  # only commands that open nothing come here
if SANDBOX:
    TELEGRAM_BOT_TOKEN = SANDBOX_TOKEN
PAYMENT_AMOUNTS = [int(amount) for amount in _payment_amounts.split(",")]

if any(_mail.values()):
    _addresses = [_mail["EMAIL_HOST_USER"] or "", *ALERT_EMAILS, "donate1024@localhost"]
    _sender = next(address for address in _addresses if "@" in address)
    # Django's EMAIL_*; a server that hangs must not hold an alert for long.
    vars().update({"DEFAULT_FROM_EMAIL": _sender} | _mail | {"EMAIL_TIMEOUT": _mail["EMAIL_TIMEOUT"] or 10})

ROOT_URLCONF = "donate1024.urls"
ASGI_APPLICATION = "donate1024.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# A database host that vanishes without a word would else hold each statement for two hours. On a unix socket they say
# nothing; DATABASE_URL may say otherwise.
DATABASE["OPTIONS"] = {
    "connect_timeout": 10,  # seconds: a frozen server takes connections, and says nothing more
    "keepalives_idle": 10,  # seconds, as the next one
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds
    **DATABASE.get("OPTIONS", {}),
}
DATABASES = {"default": DATABASE}
INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "posts",
    "subscribers",
    "delivery",
    "donate1024",
    "donate1024.alerts",
    "donate1024.watch",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 24 * 3600  # seconds that the address for the first password is good for

USE_TZ = True
LANGUAGE_CODE = "uk"
LANGUAGES = [("uk", "Українська"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]

STATIC_URL = "static/"
# The packages' own folders are served: there is no collecting step that a deploy could forget.
WHITENOISE_USE_FINDERS = True

# Only a public address has TLS in front of it; on loopback a secure cookie would lock everybody out.
IS_PUBLIC = SITE_URL.startswith("https://")
SECURE_SSL_REDIRECT = IS_PUBLIC
SECURE_REDIRECT_EXEMPT = [r"^(healthz|livez)$"]  # asked on this machine, without TLS
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_PUBLIC
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if IS_PUBLIC else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
# Both promise something of the whole domain, which is not ours to promise.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
CSRF_TRUSTED_ORIGINS = [SITE_URL.rstrip("/")] if SITE_URL else []
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY else None

LIMITER_URL = redis_urls.database(REDIS_URL, after=1)
CELERY_BROKER_URL = redis_urls.broker(REDIS_URL)
CELERY_TIMEZONE = "UTC"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
# Each is proven to have living workers; `celery worker -Q` names them.
WATCHED_QUEUES = ("telegram", "bluesky", "default")
CELERY_TASK_ROUTES = {"delivery.send_slice": {"queue": "telegram"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a broker that stays away for an hour must not end the worker
# A connection that a restart made stale is replaced at once; else the sweep asks again, and its task must not wait.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0}
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 30, "socket_keepalive": True, "health_check_interval": 20}
CELERY_BEAT_SCHEDULER = "donate1024.beat:Scheduler"
CELERY_BEAT_SYNC_EVERY = 1
# Short intervals only: a daily crontab in beat skips a day or fires twice (docs/adr). The database decides what is due.
CELERY_BEAT_SCHEDULE = {
    "plan": {"task": "delivery.plan_todays_broadcast", "schedule": 60.0, "options": {"expire_seconds": 55}},
    "sweep": {"task": "delivery.sweep", "schedule": 60.0, "options": {"expire_seconds": 55}},
    # Two looks a minute at most: the outside monitor takes five pings, and each look has two.
    "look": {"task": "watch.look", "schedule": 45.0, "options": {"expire_seconds": 40}},
    **{
        f"prove {queue}": {
            "task": "watch.prove_queue",
            "schedule": 60.0,
            "options": {"queue": queue, "expire_seconds": 55},
        }
        for queue in WATCHED_QUEUES
    },
}

DEFAULT_EXCEPTION_REPORTER = "donate1024.error_pages.RedactingReporter"
