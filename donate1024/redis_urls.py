"""The addresses of one Redis' databases, from the one address that people set."""

from urllib.parse import parse_qs, urlsplit, urlunsplit


def database(url: str, *, after: int) -> str:
    """The address of the database `after` places behind the one that `url` names."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return f"unix://{parts.path}?db={_number(url) + after}"
    return urlunsplit(parts._replace(path=f"/{_number(url) + after}"))


def broker(url: str) -> str:
    """The same address in the form that Celery takes: kombu spells a unix socket in its own way."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return f"redis+socket://{parts.path}?virtual_host={_number(url)}"
    return url


def _number(url: str) -> int:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return int(parse_qs(parts.query).get("db", ["0"])[0])
    return int(parts.path.strip("/") or 0)
