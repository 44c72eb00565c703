"""What does not run here: the servers that the person named instead of the embedded ones, and Telegram."""

import json
import urllib.error
import urllib.request

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT = 5


class Unreachable(RuntimeError):
    """A named server does not answer; the message begins with the setting's name."""


def check_database(url: str) -> None:
    try:
        psycopg.connect(url, connect_timeout=TIMEOUT).close()
    except psycopg.Error as error:
        raise Unreachable(f"DATABASE_URL: no database answers there. {error}") from None


def check_redis(url: str) -> None:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0)) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise Unreachable(f"REDIS_URL: no Redis answers there. {error}") from None


def bot_name(api_url: str, token: str) -> str:
    """The bot's username, as Telegram knows it.

    Raises:
        Unreachable: if Telegram refuses the token, or does not answer.
    """
    request = urllib.request.Request(f"{api_url.rstrip('/')}/bot{token}/getMe", method="POST")  # noqa: S310 -- checked
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310 -- a setting, http(s) only
            return f"@{json.load(answer)['result']['username']}"
    except urllib.error.HTTPError as error:
        with error:
            raise Unreachable(
                f"Telegram refuses TELEGRAM_BOT_TOKEN ({error.code}): copy it anew from @BotFather into .env"
            ) from None
    except (OSError, ValueError, KeyError):
        raise Unreachable("Telegram cannot be reached: nothing is sent or received until it can") from None
