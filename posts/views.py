"""The public pages."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from posts import clock, markup, showing
from posts.models import Picture
from posts.rendering import telegram
from posts.rendering.money import money


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Today's fundraiser as it reads by now, and how to join."""
    fundraiser = showing.shown_on(clock.local_date(clock.now()))
    page: dict[str, object] = {"contact": settings.SUPPORT_CONTACT}
    if fundraiser:
        methods = fundraiser.payment_methods.all()
        page |= {
            "fundraiser": fundraiser,
            "text": mark_safe(markup.normalise(fundraiser.text)),  # noqa: S308 - of all tags it leaves Telegram's few
            "goal": money(fundraiser.goal, fundraiser.currency) if fundraiser.goal else "",
            "buttons": telegram.compose(fundraiser, methods).buttons,
            "accounts": [method for method in methods if method.account],
        }
    return render(request, "posts/home.html", page)


@require_safe
@cache_control(public=True, max_age=365 * 24 * 3600, immutable=True)
def picture(request: HttpRequest, digest: str) -> HttpResponse:
    """The bytes under their hash: whatever has this address never changes."""
    found = get_object_or_404(Picture, digest=digest)
    return HttpResponse(bytes(found.content), content_type=found.media_type)
