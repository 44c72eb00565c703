"""People who sit at the desk, and what they find there."""

from django.contrib.auth.models import Permission, User
from django.test import Client

from delivery import reasons
from delivery.models import Broadcast, Change, Delivery, SendingLock
from posts import clock
from tests.factories import make_delivery

LIST = "/admin/delivery/broadcast/"


def sit_down(client: Client, *may: str) -> Client:
    """The client of one who may do no more than that, and reads English."""
    user = User.objects.create_user("olha", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=may, content_type__app_label="delivery"))
    client.force_login(user)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return client


def address(act: str) -> str:
    return f"{LIST}day/{clock.local_date(clock.now())}/{act}/"


def lock_sending() -> None:
    SendingLock.load()
    SendingLock.objects.update(locked_at=clock.now(), reason=reasons.COPY, is_sandbox=True)
    Change.objects.create(what="locked", reason=reasons.COPY)


def make_unknown(broadcast: Broadcast) -> Delivery:
    return make_delivery(broadcast, status="unknown", reason="no answer")
