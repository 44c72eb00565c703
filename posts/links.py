"""The links that may take money: an allow-list of hosts, each with the one shape its links have.

Nothing here opens a link. What is not on the list is refused, so that no pasted text can send donors elsewhere.
Shapes: monobank's jar, widget and builder pages, PrivatBank's envelopes, PUMB's money boxes (one short path),
NovaPay's cases (shared on e-com.novapay.ua), PayPal.
"""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from posts.rails import Rail

MAX_LENGTH = 500
JAR = "https://send.monobank.ua/jar/"

_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"  # messengers put them around a copied link
_HOST = re.compile(r"[a-z0-9.-]+")
_ID = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class _Shape:
    rail: Rail
    host: str
    path: re.Pattern[str]
    with_subdomains: bool = False
    keeps_query: bool = False

    def takes(self, host: str) -> bool:
        return host == self.host or (self.with_subdomains and host.endswith(f".{self.host}"))


_SHAPES = (
    _Shape(Rail.MONOBANK, "send.monobank.ua", re.compile(r"/jar/[A-Za-z0-9_-]+")),
    _Shape(Rail.PRIVATBANK, "privat24.ua", re.compile(r"/send/[A-Za-z0-9_-]+"), with_subdomains=True),
    _Shape(Rail.PUMB, "mobile-app.pumb.ua", re.compile(r"/[A-Za-z0-9_-]+")),
    _Shape(Rail.NOVAPAY, "novapay.ua", re.compile(r"/case/[A-Za-z0-9_-]+"), with_subdomains=True),
    _Shape(Rail.PAYPAL, "paypal.com", re.compile(r"/[^/].*"), with_subdomains=True, keeps_query=True),
    _Shape(Rail.PAYPAL, "paypal.me", re.compile(r"/[^/].*"), with_subdomains=True),
)


def parse(raw: str) -> tuple[Rail, str]:
    """The rail, and the link as everybody gets it: https, the host in ASCII, without what does not lead to the target.

    The same target pasted in another form gives the same link, and a link that was parsed stays as it is.

    Raises:
        ValidationError: with the reason, if the link is not on the allow-list.
    """
    parts = _split(raw.strip().strip(_INVISIBLE).strip())
    host = _host(parts)
    shape = next((shape for shape in _SHAPES if shape.takes(host)), None)
    if shape is None:
        raise ValidationError(
            _("Links to %(host)s cannot be used. Known ways to pay: %(known)s."),
            params={"host": host, "known": ", ".join(dict.fromkeys(str(shape.rail.label) for shape in _SHAPES))},
        )
    if shape.rail == Rail.MONOBANK and (jar := _widget_target(parts)):
        return shape.rail, jar
    path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
    if not shape.path.fullmatch(path):
        raise ValidationError(
            _("The link leads to %(host)s, but not to a fundraiser. Copy it whole."), params={"host": host}
        )
    query = f"?{quote(parts.query, safe='/%:@!$&()*+,;=~?')}" if shape.keeps_query and parts.query else ""
    return shape.rail, f"https://{host}{path}{query}"


def _split(link: str) -> SplitResult:
    """The link's parts, with https where no scheme was written."""
    if len(link) > MAX_LENGTH:
        raise ValidationError(
            _("The link has %(count)d characters; at most %(limit)d are taken."),
            params={"count": len(link), "limit": MAX_LENGTH},
        )
    if not link.isprintable() or re.search(r"[\s\\]", link):  # browsers take a backslash for a slash
        raise ValidationError(_("The link has spaces or control characters inside. Copy it again."))
    try:
        return urlsplit(link if "://" in link else f"https://{link.removeprefix('//')}")
    except ValueError:
        raise ValidationError(_("This is no link. Copy it again.")) from None


def _host(parts: SplitResult) -> str:
    """The host as browsers look it up. Refuses everything by which a link can hide where it leads."""
    if parts.scheme not in {"http", "https"}:
        raise ValidationError(
            _("The link begins with %(scheme)s://. Copy one that begins with https://."),
            params={"scheme": parts.scheme},
        )
    if "@" in parts.netloc:
        raise ValidationError(_("The link has a name and @ before the host: it hides where it leads."))
    if ":" in parts.netloc:
        raise ValidationError(_("The link names a port. Copy one without it."))
    try:
        host = parts.netloc.lower().encode("idna").decode()
    except UnicodeError:
        host = ""
    if not _HOST.fullmatch(host):
        raise ValidationError(_("This is no link. Copy it again."))
    return host


def _widget_target(parts: SplitResult) -> str | None:
    """The jar behind a widget's or the builder's address, which carry the jar's id beside a long one of their own."""
    if not parts.path.startswith("/widget"):
        return None
    query = parse_qs(parts.query)
    if (send_id := query.get("sendId", [""])[0]) and _ID.fullmatch(send_id):
        return JAR + send_id
    long_id = query.get("jar", query.get("longJarId", [""]))[0]
    return f"https://send.monobank.ua/widget.html?jar={long_id}" if _ID.fullmatch(long_id) else None
