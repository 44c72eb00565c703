"""What does not run here: the servers that the person named instead of the embedded ones."""

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
    except psycopg.ProgrammingError:  # it repeats the password
        raise Unreachable("DATABASE_URL: is no address that PostgreSQL reads; in a password % is %25") from None
    except psycopg.Error as error:
        raise Unreachable(f"DATABASE_URL: no database answers there. {error}") from None


def check_redis(url: str) -> None:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0)) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise Unreachable(f"REDIS_URL: no Redis answers there. {error}") from None
