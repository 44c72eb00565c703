"""The message as it would be sent, from what stands in a curator's form."""

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST

from posts.models import Fundraiser, PaymentMethod
from posts.rendering import telegram


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Whatever the form holds, saved or not, drawn by the renderer that the morning uses. Changes nothing.

    `picture` is the address of the picture that the form would keep or upload; empty without one.
    """
    typed, faults = request.POST, list[str]()
    methods = _payment_methods(typed, faults)
    page: dict[str, object] = {"faults": faults, "picture": typed.get("picture", "")}
    try:
        message = telegram.compose(_fundraiser(typed), methods)
        page |= {
            "message": message,
            "text": mark_safe(message.text),  # noqa: S308 - only Telegram's tags are left
            "length": number_format(message.length, force_grouping=True),
            "limit": number_format(message.limit, force_grouping=True),
        }
        telegram.check(message)
    except ValidationError as refusal:
        faults += refusal.messages
    return render(request, "posts/admin/message.html", page)


def _fundraiser(typed: QueryDict) -> Fundraiser:
    goal, currency = typed.get("goal", ""), typed.get("currency", "")
    return Fundraiser(
        title=typed.get("title", ""),
        text=typed.get("text", ""),
        goal=int(goal) if goal.isascii() and goal.isdigit() else None,
        currency=currency if currency in Fundraiser.Currency.values else Fundraiser.Currency.UAH,
        picture_id=typed.get("picture") or None,
    )


def _payment_methods(typed: QueryDict, faults: list[str]) -> list[PaymentMethod]:
    """The rows of the inline form in the order that they would have; what is wrong with one goes to `faults`."""
    methods: list[PaymentMethod] = []
    rows = [name.removesuffix("-pasted") for name in typed if name.endswith("-pasted") and "__prefix__" not in name]
    for row in rows:
        pasted = typed.get(f"{row}-pasted", "")
        if not pasted.strip() or typed.get(f"{row}-DELETE"):
            continue
        method = PaymentMethod(
            label=typed.get(f"{row}-label", ""), position=_position(typed.get(f"{row}-position", ""))
        )
        try:
            method.take(pasted)
        except ValidationError as refusal:
            faults += refusal.messages
        else:
            methods.append(method)
    return sorted(methods, key=lambda method: method.position)


def _position(written: str) -> int:
    return int(written) if written.isascii() and written.isdigit() else 2**15
