from html import escape

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from django.views.debug import technical_500_response
from pytest_django import Settings

TOKEN = "987654321:AAH-tests-aaaaaaaaaaaaaaaaaaaaaaaaaaa"
PASSWORD = "it's<mine>&not-yours"


@pytest.mark.parametrize("accept", ["text/html", "text/plain"])
def test_the_page_of_an_error_tells_no_secret(
    rf: RequestFactory, settings: Settings, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    settings.DEBUG = True
    monkeypatch.setenv("REDIS_URL", f"redis://:{PASSWORD}@host/0")
    settings.CELERY_BROKER_URL = settings.LIMITER_URL = settings.REDIS_URL = f"redis://:{PASSWORD}@host/0"
    settings.TELEGRAM_BOT_TOKEN = TOKEN

    page = _page_of_an_error(rf.get("/", {"token": TOKEN}, headers={"accept": accept}))

    assert "CELERY_BROKER_URL" in page
    assert "url_of_the_call" in page or accept == "text/plain"
    assert TOKEN not in page
    assert PASSWORD not in page
    assert escape(PASSWORD) not in page


def _page_of_an_error(request: HttpRequest) -> str:
    url_of_the_call = f"https://api.telegram.org/bot{TOKEN}/getMe"
    with pytest.raises(ValueError, match="invalid literal") as caught:
        int(url_of_the_call)
    return technical_500_response(request, caught.type, caught.value, caught.tb).content.decode()
