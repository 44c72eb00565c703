"""How many recipients are in which state, as one bar."""

from collections.abc import Mapping

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from delivery.models import Delivery

COLOURS: dict[str, str] = {  # in the bar's order: what is done grows from the left
    Delivery.Status.SENT: "#16a34a",
    Delivery.Status.SKIPPED: "#d4d4d8",
    Delivery.Status.FAILED: "#dc2626",
    Delivery.Status.UNKNOWN: "#a855f7",
    Delivery.Status.SENDING: "#2563eb",
    Delivery.Status.PENDING: "#93c5fd",
}


def draw_bar(counts: Mapping[str, int]) -> SafeString | None:
    """The states as one bar, and in figures below it."""
    some = {state: counts[state] for state in COLOURS if counts.get(state)}
    if not some:
        return None
    labels = dict(Delivery.Status.choices)
    return format_html(
        '<div style="min-width:9rem">'
        '<div style="display:flex;height:.6rem;border-radius:.3rem;overflow:hidden">{}</div>{}</div>',
        format_html_join(
            "",
            '<span style="flex:{} 0 2px;background:{}"></span>',
            [(count, COLOURS[state]) for state, count in some.items()],
        ),
        " · ".join(f"{labels[Delivery.Status(state)]} {count}" for state, count in some.items()),
    )
