"""The pages of a fundraiser on the desk."""

from typing import Any

from django.urls import reverse

from posts.models import Fundraiser

JAR = "https://send.monobank.ua/jar/SANDBOX001"
LIST = "/admin/posts/fundraiser/"
ADD = f"{LIST}add/"


def page_of(fundraiser: Fundraiser) -> str:
    return reverse("admin:posts_fundraiser_change", args=[fundraiser.pk])


def form(*ways: dict[str, Any], existing: int = 0, **facts: Any) -> dict[str, Any]:
    """What the browser sends: the fundraiser's fields, then one row for each way to pay."""
    fields = {"title": "Пікап", "text": "Для медиків", "currency": "UAH", "priority": 0} | facts
    rows = {"payment_methods-TOTAL_FORMS": len(ways), "payment_methods-INITIAL_FORMS": existing}
    for number, way in enumerate(ways):
        rows |= {f"payment_methods-{number}-{name}": value for name, value in way.items()}
    return fields | rows


def errors_of(response: Any) -> str:
    assert response.status_code == 200
    return str(response.context["errors"])
