"""The message as it would be sent, from what stands in a curator's form."""

import re

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST

from posts.models import Fundraiser, PaymentMethod
from posts.rendering import telegram

BEHIND_ALL_OTHERS = 2**15  # one more than a position can be


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
    currency = typed.get("currency", "")
    return Fundraiser(
        title=typed.get("title", ""),
        text=typed.get("text", ""),
        goal=_whole_number(typed.get("goal", "")),
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
        position = _whole_number(typed.get(f"{row}-position", ""))
        method = PaymentMethod(
            label=typed.get(f"{row}-label", ""), position=BEHIND_ALL_OTHERS if position is None else position
        )
        try:
            method.take(pasted)
        except ValidationError as refusal:
            faults += refusal.messages
        else:
            methods.append(method)
    return sorted(methods, key=lambda method: method.position)


def _whole_number(written: str) -> int | None:
    return int(written) if re.fullmatch(r"[0-9]{1,18}", written.strip()) else None
