"""The page of an error with DEBUG on: settings, local variables and the request, without secrets."""

from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

from posts.redaction import redact


class RedactingReporter(ExceptionReporter):
    """Django hides by name, and only what is named like a secret; an address with a password in it is not."""

    def get_traceback_html(self) -> SafeString:
        return SafeString(redact(super().get_traceback_html()))

    def get_traceback_text(self) -> SafeString:
        return SafeString(redact(super().get_traceback_text()))
