"""Messages are compared in English, the language that they are written in."""

from collections.abc import Iterator

import hypothesis
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

# A busy machine must not fail a test that is about something else; nothing is kept between runs.
hypothesis.settings.register_profile(
    "steady", deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def curator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("curator"))
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return client
