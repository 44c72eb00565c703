"""The desk's pages: one tells how a day stands, one asks before an act, and its POST does it. No rule lives here."""

from datetime import date
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from delivery import acting, desk
from delivery.desk import Act, Day
from delivery.forms import ReasonForm, SendNowForm
from delivery.panel import panel
from delivery.refusals import CannotChange, CannotPlan
from posts import clock
from posts.showing import NothingToShow

MAY_SEE, MAY_ACT = "delivery.view_broadcast", "delivery.change_broadcast"


@permission_required(MAY_SEE, raise_exception=True)
def show_day(request: HttpRequest, *, day: str) -> TemplateResponse:
    """How the day stands, alone: what a page that is open asks for again and again, while something moves."""
    facts, may_act = _look(day), request.user.has_perm(MAY_ACT)
    shown = panel(facts, may_act=may_act, in_full="in_full" in request.GET)
    return TemplateResponse(request, "delivery/admin/day.html", shown)


@permission_required(MAY_ACT, raise_exception=True)
def act_on_day(request: HttpRequest, *, day: str, act: str) -> HttpResponse:
    """Ask, or do it once; a refusal is told in words. The address names the day: tomorrow it does nothing."""
    facts, chosen = _parse(day, act)
    is_sent = request.method == "POST"
    form = _form(chosen, facts, request.POST if is_sent else None)
    if is_sent and form.is_valid():
        _do(request, chosen, facts, form.cleaned_data)
        return redirect(_page_of(facts))
    if chosen not in (*desk.acts(facts), *desk.acts_on_unknown(facts)):
        messages.warning(request, _("This is not possible now: see how the day stands."))
        return redirect(_page_of(facts))
    return confirm(request, chosen, acting.ask(chosen, facts), form=form, back=_page_of(facts))


def confirm(
    request: HttpRequest,
    act: Act,
    asked: list[str],
    *,
    form: forms.Form,
    back: str,
    kept: tuple[tuple[str, str], ...] = (),
) -> TemplateResponse:
    """The page that asks; `kept` are the fields that its POST repeats."""
    page = {"title": act.label, "act": act, "asked": asked, "form": form, "back": back, "kept": kept}
    return TemplateResponse(request, "delivery/admin/confirm.html", admin.site.each_context(request) | page)


def _parse(day: str, act: str) -> tuple[Day, Act]:
    try:
        return _look(day), Act(act)
    except ValueError:
        raise Http404 from None


def _look(day: str) -> Day:
    try:
        return desk.look(date.fromisoformat(day), at=clock.now())
    except ValueError:
        raise Http404 from None


def _form(act: Act, day: Day, typed: Any) -> forms.Form:
    match act:
        case Act.SKIP | Act.ARRIVED | Act.SEND_AGAIN:
            return ReasonForm(typed)
        case Act.SEND_NOW:
            return SendNowForm(typed, day=day.date, initial={"fundraiser": day.turn})
    return forms.Form(typed)


def _do(request: HttpRequest, act: Act, day: Day, said: dict[str, Any]) -> None:
    try:
        told = acting.do(act, day=day.date, by=request.user.get_username(), at=day.at, **said)
    except (CannotChange, CannotPlan, NothingToShow) as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, told)


def _page_of(day: Day) -> str:
    """Where the day is shown: today's on top of the list."""
    if day.is_today or day.broadcast is None:
        return reverse("admin:delivery_broadcast_changelist")
    return reverse("admin:delivery_broadcast_change", args=[day.broadcast.pk])
