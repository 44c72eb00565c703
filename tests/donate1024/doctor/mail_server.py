"""A real mail server of the test's own."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from donate1024.stack import ports

PASSWORD = "mail-right"


@contextmanager
def mail_server() -> Iterator[int]:
    """Gives its port; whoever knows the password may log in."""
    port = ports.free()
    server = Controller(Sink(), "127.0.0.1", port, authenticator=_login, auth_require_tls=False)
    server.start()
    yield port
    server.stop()


def _login(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword) -> AuthResult:
    return AuthResult(success=data.password == PASSWORD.encode(), handled=False)
