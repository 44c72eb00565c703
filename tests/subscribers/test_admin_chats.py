"""One-time links, and the chats that they make admin chats."""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, connection

from subscribers import admin_chats
from subscribers.admin_chats import LINK_LASTS, AdminChat, AdminLink, Role
from subscribers.bot.handlers import come_back

NOON = datetime(2026, 3, 29, 9, tzinfo=UTC)
OLIA, TARAS, GROUP, SUPERGROUP = 101, 102, -4500, -1002471352452

pytestmark = pytest.mark.django_db


def make_link(role: Role = Role.OPERATOR) -> str:
    return admin_chats.make_link(role, at=NOON)


def open_link(payload: str, chat_id: int = OLIA, *, after: timedelta = timedelta()) -> Role | None:
    return admin_chats.open_link(payload, chat_id=chat_id, name="Оля", at=NOON + after)


def link(chat_id: int, role: Role = Role.CURATOR, *, at: datetime = NOON) -> None:
    AdminChat.objects.create(chat_id=chat_id, role=role, linked_at=at)


def roles() -> dict[int, str]:
    return dict(AdminChat.objects.values_list("chat_id", "role"))


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


# Links.


@pytest.mark.parametrize("role", Role)
def test_whoever_opens_a_link_is_linked_with_its_role(role: Role) -> None:
    assert open_link(make_link(role)) == role

    chat = AdminChat.objects.get()
    assert (chat.chat_id, chat.role, chat.name, chat.linked_at) == (OLIA, role, "Оля", NOON)


def test_what_opens_a_link_is_random_fits_into_an_address_and_is_not_kept() -> None:
    payload = make_link()

    assert len(payload) == 22  # 128 bits
    assert payload.replace("-", "").replace("_", "").isalnum()
    assert payload not in str(AdminLink.objects.values().get())
    assert make_link() != payload


def test_a_used_link_opens_nothing_for_others() -> None:
    payload = make_link()
    open_link(payload)

    assert open_link(payload, TARAS) is None
    assert roles() == {OLIA: Role.OPERATOR}


def test_the_same_opening_handled_twice_is_answered_twice() -> None:
    payload = make_link()

    assert [open_link(payload), open_link(payload)] == [Role.OPERATOR, Role.OPERATOR]


def test_a_used_link_brings_nobody_back() -> None:
    payload = make_link()
    open_link(payload)
    admin_chats.unlink(OLIA)

    assert open_link(payload) is None
    assert roles() == {}


@pytest.mark.parametrize(("early", "role"), [(timedelta(seconds=1), Role.OPERATOR), (timedelta(), None)])
def test_a_link_is_good_for_a_day(early: timedelta, role: Role | None) -> None:
    assert open_link(make_link(), after=LINK_LASTS - early) == role


def test_a_new_link_revokes_the_older_one_of_its_role_only() -> None:
    older, curators = make_link(), make_link(Role.CURATOR)

    newer = make_link()

    assert open_link(older) is None
    assert open_link(newer) == Role.OPERATOR
    assert open_link(curators) == Role.CURATOR


@pytest.mark.parametrize("payload", ["", "wrong", "x" * 22, "ж", "0" * 4096])
def test_a_wrong_payload_changes_nothing(payload: str) -> None:
    make_link()

    assert open_link(payload) is None
    assert roles() == {}


def test_a_second_link_changes_the_role_and_keeps_the_place() -> None:
    open_link(make_link(Role.CURATOR))

    open_link(make_link(Role.OPERATOR), after=timedelta(hours=1))

    assert roles() == {OLIA: Role.OPERATOR}
    assert AdminChat.objects.get().linked_at == NOON


def test_an_endless_name_keeps_nobody_out() -> None:
    assert admin_chats.open_link(make_link(), chat_id=OLIA, name="О" * 5000, at=NOON) == Role.OPERATOR


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_number", range(5))
def test_of_many_who_open_it_at_once_one_is_let_in(round_number: int) -> None:
    payload, together = make_link(), Barrier(8)

    def opening(chat_id: int) -> Role | None:
        together.wait()
        try:
            return open_link(payload, chat_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(opening, range(1, 9)))

    assert opened.count(Role.OPERATOR) == len(roles()) == 1


# Chats.


def test_the_settings_chats_come_first_and_then_the_oldest_linked(settings: LazySettings) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [7, TARAS]
    link(OLIA, at=NOON + timedelta(hours=1))
    link(GROUP)
    link(TARAS, at=NOON - timedelta(hours=1))

    assert admin_chats.chat_ids() == [7, TARAS, GROUP, OLIA]


def test_operators_are_those_of_the_setting_and_those_linked_so(settings: LazySettings) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [7]
    link(OLIA, Role.CURATOR)
    link(TARAS, Role.OPERATOR)

    assert admin_chats.operators() == {7, TARAS}


@pytest.mark.parametrize(
    ("facts", "name"),
    [({"chat_id": 0}, "admin_chat_has_a_chat"), ({"role": "king"}, "admin_chat_has_a_role")],
)
def test_a_chat_is_somebody_with_a_role(facts: dict[str, object], name: str) -> None:
    with pytest.raises(IntegrityError, match=name):
        AdminChat.objects.create(**{"chat_id": OLIA, "role": Role.CURATOR, "linked_at": NOON} | facts)


def test_a_link_is_for_a_role() -> None:
    with pytest.raises(IntegrityError, match="admin_link_has_a_role"):
        AdminLink.objects.create(role="king", digest="x", expires_at=NOON)


def test_a_group_is_kept_under_its_new_id_and_its_old_one_is_forgotten() -> None:
    link(GROUP, Role.OPERATOR)

    for _ in range(2):
        admin_chats.follow(chat_id=GROUP, to=SUPERGROUP)

    assert roles() == {SUPERGROUP: Role.OPERATOR}


def test_a_group_whose_new_id_is_linked_already_is_linked_once() -> None:
    link(GROUP, Role.OPERATOR)
    link(SUPERGROUP, Role.CURATOR)

    admin_chats.follow(chat_id=GROUP, to=SUPERGROUP)

    assert roles() == {SUPERGROUP: Role.CURATOR}


def test_the_last_chat_that_is_lost_is_an_alert(caplog: pytest.LogCaptureFixture) -> None:
    link(OLIA)
    link(TARAS)
    admin_chats.lose(OLIA)
    while_one_is_left = errors(caplog)

    for _ in range(2):
        admin_chats.lose(TARAS)

    assert while_one_is_left == []
    assert errors(caplog) == [admin_chats.NOBODY_LEFT]
    assert roles() == {}


def test_a_linked_chat_that_is_lost_while_another_is_linked_alarms_nobody(
    settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = [7]
    link(OLIA)
    link(TARAS)

    admin_chats.lose(OLIA)
    admin_chats.lose(-1)

    assert errors(caplog) == []


@pytest.mark.parametrize(
    ("of_settings", "linked", "lost", "told"),
    [
        ([7], [], 7, admin_chats.NOBODY_LEFT),
        ([7], [OLIA], 7, admin_chats.ONE_LOST),
        ([7, 8], [], 7, admin_chats.ONE_LOST),
        ([7], [OLIA], OLIA, admin_chats.ONE_LOST),  # the other may be gone as well
    ],
)
def test_a_lost_chat_of_the_settings_or_the_last_beside_them_is_an_alert(
    settings: LazySettings,
    caplog: pytest.LogCaptureFixture,
    of_settings: list[int],
    linked: list[int],
    lost: int,
    told: str,
) -> None:
    settings.TELEGRAM_ADMIN_CHATS = of_settings
    for chat_id in linked:
        link(chat_id)

    admin_chats.lose(lost)

    assert errors(caplog) == [told]


def test_a_lost_chat_of_the_settings_that_has_the_bot_again_ends_the_alert(
    settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    settings.TELEGRAM_ADMIN_CHATS = [7]
    admin_chats.lose(7)

    for chat_id in (OLIA, 7):
        come_back(chat_id)

    opened, closed = caplog.records
    assert opened.__dict__["opens"] == closed.__dict__["closes"] == admin_chats.CONDITION
