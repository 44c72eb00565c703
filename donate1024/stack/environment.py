"""Where settings come from before Django reads them: the environment, `.env`, the generated secrets."""

import hashlib
import os
import tempfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from urllib.parse import quote

from dotenv import dotenv_values

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "donate1024"
PORTS = {"WEB_PORT": 8000, "FLOWER_PORT": 5555, "SANDBOX_PORT": 8081}
# Two, so that one killed worker does not stop the morning; they carry more than the 1,000/s that Telegram knows of.
SENDERS = 2
# Every setting of today, and those whose names are taken for later. The demo and the tests start without them,
# whatever the person's shell has set.
NAMES = frozenset(
    {
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_ADMIN_CHATS",
        "DATABASE_URL",
        "REDIS_URL",
        "STATE_DIR",
        "SECRET_KEY",
        "DEBUG",
        "ALLOWED_HOSTS",
        "SITE_URL",
        "TRUSTED_PROXY",
        "TIME_ZONE",
        "WEB_PORT",
        "FLOWER_PORT",
        "SANDBOX_PORT",
        "DONATE1024_SANDBOX",
        "TELEGRAM_API_URL",
        "TELEGRAM_CHANNEL",
        "TELEGRAM_MESSAGES_PER_SECOND",
        "TELEGRAM_SENDERS",
        "BLUESKY_HANDLE",
        "BLUESKY_APP_PASSWORD",
        "BLUESKY_URL",
        "GEMINI_API_KEY",
        "GEMINI_API_URL",
        "GEMINI_MODEL",
        "GEMINI_FALLBACK_MODEL",
        "REVIEW_DEADLINE",
        "HEARTBEAT_URL",
        "ALERT_EMAILS",
        "EMAIL_URL",
        "FLOWER_BASIC_AUTH",
        "METRICS_TOKEN",
        "PAYMENT_AMOUNTS",
        "JAR_AMOUNT_TEMPLATE",
        "SUPPORT_CONTACT",
        "DELIVERY_RETENTION_DAYS",
        "CREATIVE_RETENTION_DAYS",
    }
)


def load(environ: MutableMapping[str, str]) -> Path:
    """Complete `environ` and return the state directory.

    What is set already stays; then `.env` counts (or the file that DONATE1024_ENV_FILE names, none where it is
    empty), then `secrets.env` in the state directory, then the sockets of the embedded servers.
    """
    env_file = environ.get("DONATE1024_ENV_FILE", str(ROOT / ".env"))
    if env_file:
        _fill(environ, Path(env_file))
    state = state_dir(environ)
    _fill(environ, state / "secrets.env")
    environ.setdefault("DATABASE_URL", database_url(state))
    environ.setdefault("REDIS_URL", redis_url(state))
    return state


def of_sandbox(environ: Mapping[str, str], *, port: int) -> dict[str, str]:
    """What makes our processes speak to the sandbox: past a proxy, which would look for it on its own machine."""
    past_proxy = environ.get("no_proxy") or environ.get("NO_PROXY")
    return {
        "DONATE1024_SANDBOX": "1",
        "TELEGRAM_API_URL": f"http://127.0.0.1:{port}",
        "no_proxy": f"{past_proxy},127.0.0.1" if past_proxy else "127.0.0.1",
    }


def state_dir(environ: Mapping[str, str]) -> Path:
    """The directory of everything that must outlive a restart: one for the sandbox, one for each real bot."""
    if chosen := environ.get("STATE_DIR"):
        return Path(chosen).expanduser().resolve()
    if token := environ.get("TELEGRAM_BOT_TOKEN"):
        return Path.home() / ".local" / "share" / "donate1024" / token.partition(":")[0]
    return ROOT / ".local"


def socket_dir(state: Path) -> Path:
    """The directory of the servers' sockets: short, since a socket's path may have about 104 bytes at most."""
    tag = hashlib.sha256(str(state.resolve()).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"donate1024-{os.geteuid()}-{tag}"


def database_url(state: Path) -> str:
    return f"postgres://postgres@{quote(str(socket_dir(state) / 'pg'), safe='')}/{DATABASE}"


def redis_url(state: Path) -> str:
    return f"unix://{socket_dir(state) / 'vk' / 'valkey.sock'}?db=0"


def _fill(environ: MutableMapping[str, str], file: Path) -> None:
    for name, value in dotenv_values(file).items():
        if value is not None:
            environ.setdefault(name, value)
