"""Which links Telegram takes, and how it rewrites them (td: LinkManager::check_link_impl, parse_url)."""

import re
from ipaddress import AddressValueError, IPv6Address

_PORT = re.compile(r"(?P<before>.+):(?P<port>[^:\]@]*)", re.DOTALL)
_HOST = re.compile(r"(?:[a-z0-9.\-_!$,~*'();&+=]|%[a-f0-9]{2}|[^\x00-\x7f])+")
_TG_HOST = re.compile(r"[a-z0-9_-]+")


class WrongLink(ValueError):
    """Telegram does not take this link; the text is its own."""


def checked(link: str) -> str:
    """The link as Telegram shows it: a missing scheme becomes http, the host is lower case, the path begins with /.

    Raises:
        WrongLink: with Telegram's reason.
    """
    is_tg = link[:3].lower() == "tg:"
    protocol, userinfo, host, port, query = _parts(link[3:].removeprefix("//") if is_tg else link)
    if is_tg:
        if protocol == "https" or userinfo or port or not _TG_HOST.fullmatch(host):
            raise WrongLink("Wrong tg URL")
        return f"tg://{host}{query.removeprefix('/') if query.startswith('/?') else query}"
    if "." not in host and not host.startswith("["):
        raise WrongLink("Wrong HTTP URL")
    return f"{protocol}://{userinfo + '@' if userinfo else ''}{host}{':' + port if port else ''}{query}"


def _parts(url: str) -> tuple[str, str, str, str, str]:
    protocol, separator, after = url.partition("://")
    if not separator or set(protocol) & set(":/?#@[]"):
        protocol, after = "http", url
    if protocol.lower() not in {"http", "https"}:
        raise WrongLink("Unsupported URL protocol")
    authority, port = re.split(r"[/?#]", after, maxsplit=1)[0], ""
    rest = after[len(authority) :].rstrip()
    if with_port := _PORT.fullmatch(authority):
        authority, port = with_port["before"], with_port["port"].lstrip("0")
        if not (port.isascii() and port.isdigit() and int(port[:6]) <= 65535):
            raise WrongLink("Wrong port number specified in the URL")
    userinfo, _, host = authority.rpartition("@")
    _check_host(host.lower())
    query = "".join(f"%{ord(char):02X}" if char <= " " else char for char in rest)
    return protocol.lower(), userinfo, host.lower(), port, query if query.startswith("/") else f"/{query}"


def _check_host(host: str) -> None:
    if not host:
        raise WrongLink("URL host is empty")
    if host == ".":
        raise WrongLink("Host is invalid")
    if host.startswith("[") and host.endswith("]"):
        try:
            IPv6Address(host[1:-1])
        except AddressValueError:
            raise WrongLink("Wrong IPv6 address specified in the URL") from None
    elif not _HOST.fullmatch(host):
        raise WrongLink("Wrong URL host")
