"""The page that sets the first password: reached by a one-time address."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.management import call_command
from django.test import Client

from donate1024 import first_password

pytestmark = pytest.mark.django_db

GOOD = "шість-слонів-на-даху"


def new_path() -> str:
    path = first_password.new_path()
    assert path
    return path


def choose(client: Client, path: str, password: str = GOOD, again: str = GOOD) -> str:
    """Where the browser ends after the form was filled in: its address."""
    page = client.get(path, follow=True)
    address = page.redirect_chain[-1][0] if page.redirect_chain else path
    answer = client.post(address, {"new_password1": password, "new_password2": again}, follow=True)
    return str(answer.request["PATH_INFO"])


def password_of(name: str) -> str:
    return User.objects.get(username=name).password


def test_where_nobody_may_manage_a_curator_is_made_who_cannot_log_in_yet(client: Client) -> None:
    new_path()

    curator = User.objects.get()
    assert (curator.username, curator.is_staff, curator.is_superuser) == ("curator", True, True)
    assert not curator.has_usable_password()


def test_whoever_chooses_a_password_is_in_the_desk_and_comes_back_with_it(client: Client) -> None:
    ends_at = choose(client, new_path())

    assert ends_at == "/admin/"
    assert client.get("/admin/").status_code == 200
    assert Client().login(username="curator", password=GOOD)


def test_the_address_works_once(client: Client) -> None:
    path = new_path()
    choose(client, path)

    refused = Client().get(path, headers={"accept-language": "en"})
    choose(Client(), path, "someone-elses-1", "someone-elses-1")

    assert "has done its work" in refused.content.decode()
    assert Client().login(username="curator", password=GOOD)


def test_a_page_opened_before_is_refused_once_the_password_is_set(client: Client) -> None:
    path, other = new_path(), Client()
    opened = other.get(path, follow=True).redirect_chain[-1][0]
    choose(client, path)

    other.post(opened, {"new_password1": "someone-elses-1", "new_password2": "someone-elses-1"})

    assert Client().login(username="curator", password=GOOD)


def test_a_newer_address_revokes_the_older_one(client: Client) -> None:
    older, newer = new_path(), new_path()

    choose(client, older)
    unchanged = not User.objects.get().has_usable_password()
    choose(client, newer)

    assert unchanged
    assert Client().login(username="curator", password=GOOD)


@pytest.mark.parametrize(("hours", "is_good"), [(23, True), (25, False)])
def test_the_address_is_good_for_a_day(
    client: Client, monkeypatch: pytest.MonkeyPatch, hours: int, *, is_good: bool
) -> None:
    path = new_path()
    now = default_token_generator._now()

    monkeypatch.setattr(default_token_generator, "_now", lambda: now + timedelta(hours=hours))

    assert (choose(client, path) == "/admin/") is is_good


@pytest.mark.parametrize(
    ("password", "again"), [("short", "short"), (GOOD, GOOD + "x"), ("password1", "password1"), ("", "")]
)
def test_a_password_that_will_not_do_is_asked_for_again(client: Client, password: str, again: str) -> None:
    path = new_path()

    choose(client, path, password, again)

    assert not User.objects.get().has_usable_password()
    assert choose(client, path) == "/admin/"


@pytest.mark.parametrize("path", ["/admin/first/MQ/wrong/", "/admin/first/x/c0ffee-aaaa/", "/admin/first/MQ/choose/"])
def test_a_wrong_address_is_refused_kindly(client: Client, path: str) -> None:
    new_path()

    page = client.get(path, headers={"accept-language": "en"})

    assert "has done its work" in page.content.decode()


def test_while_a_superuser_has_a_password_there_is_no_address() -> None:
    User.objects.create_superuser("olha", password=GOOD)

    assert first_password.new_path() is None
    assert User.objects.count() == 1


def test_an_address_opens_nothing_once_another_superuser_has_a_password(client: Client) -> None:
    path, other = new_path(), Client()
    opened = other.get(path, follow=True).redirect_chain[-1][0]
    User.objects.create_superuser("olha", password=GOOD)

    choose(client, path)
    other.post(opened, {"new_password1": GOOD, "new_password2": GOOD})

    assert not User.objects.get(username="curator").has_usable_password()


def test_the_name_of_somebody_who_may_not_manage_is_left_to_them() -> None:
    for name in ("curator", "curator2"):
        User.objects.create_user(name, password=GOOD)

    new_path()

    assert User.objects.get(is_superuser=True).username == "curator3"


def test_a_superuser_without_a_password_gets_the_address_instead_of_a_second_one(client: Client) -> None:
    User.objects.create_superuser("olha")
    User.objects.create_user("taras", password=GOOD, is_staff=True)

    choose(client, new_path())

    assert Client().login(username="olha", password=GOOD)
    assert User.objects.count() == 2


def test_the_command_prints_the_public_address_where_there_is_one(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEB_PORT", "8123")
    call_command("password_link")
    settings.SITE_URL = "https://example.org/"

    call_command("password_link")

    here, public = capsys.readouterr().out.splitlines()
    assert here.startswith("http://127.0.0.1:8123/admin/first/")
    assert public.startswith("https://example.org/admin/first/")


def test_the_command_prints_nothing_where_somebody_has_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    User.objects.create_superuser("olha", password=GOOD)

    call_command("password_link")

    assert capsys.readouterr().out == ""
