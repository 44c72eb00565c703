from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction

from delivery.models import Broadcast, DailySchedule, Delivery, SendingLock, UploadedPicture
from tests.factories import make_broadcast, make_delivery, make_fundraiser, make_picture, make_subscriber

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 3, 29, 9, tzinfo=UTC)


def refused_by(name: str, row: models.Model) -> bool:
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        row.save(force_insert=True)
    return name in str(refusal.value)


def frozen() -> dict[str, Any]:
    return {"fundraiser": make_fundraiser(), "text": "Збір", "planned_at": MOMENT, "run_until": MOMENT}


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("daily_schedule_is_one_row", {"id": 2}),
        ("daily_schedule_lateness_is_positive", {"latest_after": timedelta(0)}),
        ("daily_schedule_lateness_is_positive", {"latest_after": timedelta(days=1)}),
        ("daily_schedule_starts_before_quiet", {"send_at": time(20)}),
        ("daily_schedule_starts_before_quiet", {"send_at": time(22, 30), "quiet_from": time(23)}),
        # 23:00 + 2 h is 01:00 to PostgreSQL.
        ("daily_schedule_starts_before_quiet", {"send_at": time(23), "quiet_from": time(23, 59)}),
    ],
)
def test_an_impossible_schedule_cannot_be_stored(name: str, facts: dict[str, Any]) -> None:
    assert refused_by(name, DailySchedule(effective_from=MOMENT, **facts))


@pytest.mark.parametrize(
    "facts",
    [
        {"send_at": time(20)},
        {"send_at": time(23), "quiet_from": time(23, 59)},
        {"send_at": time(20, 30), "latest_after": timedelta(hours=1, minutes=30)},
        {"send_at": time(20, 0, 30), "latest_after": timedelta(hours=1, minutes=59, seconds=30)},
    ],
)
def test_a_schedule_that_may_begin_after_the_quiet_hour_is_refused_in_words(facts: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refusal:
        DailySchedule(effective_from=MOMENT, **facts).clean()

    assert set(refusal.value.message_dict) == {"quiet_from"}


@pytest.mark.parametrize(
    "facts",
    [
        {"send_at": time(19, 59)},
        {"send_at": time(20), "quiet_from": time(22, 1)},
        {"send_at": time(20), "quiet_from": time(22, 0, 1)},
    ],
)
def test_a_schedule_that_begins_until_just_before_the_quiet_hour_is_fine(facts: dict[str, Any]) -> None:
    schedule = DailySchedule(effective_from=MOMENT, **facts)

    schedule.full_clean()
    schedule.save()


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("broadcast_status_is_known", {"status": "done"}),
        ("broadcast_that_goes_out_is_frozen", {"text": ""}),
        ("broadcast_that_goes_out_is_frozen", {"fundraiser": None}),
        ("broadcast_that_goes_out_is_frozen", {"planned_at": None}),
        ("broadcast_that_goes_out_is_frozen", {"run_until": None}),
        ("broadcast_stop_has_reason", {"status": "paused"}),
        ("broadcast_stop_has_reason", {"status": "expired"}),
        ("broadcast_stop_has_reason", {"status": "skipped"}),
        ("broadcast_finished_has_time", {"status": "finished"}),
        ("broadcast_revision_counts_from_one", {"revision": 0}),
    ],
)
def test_an_impossible_broadcast_cannot_be_stored(name: str, facts: dict[str, Any]) -> None:
    assert refused_by(name, Broadcast(**{"date": MOMENT.date()} | frozen() | facts))


def test_a_day_has_one_broadcast() -> None:
    first = make_broadcast()

    assert refused_by("delivery_broadcast_date_key", Broadcast(**{"date": first.date} | frozen()))


@pytest.mark.parametrize("status", ["expired", "skipped"])
def test_a_day_without_a_message_needs_no_fundraiser(status: str) -> None:
    Broadcast.objects.create(date=MOMENT.date(), status=status, reason="holiday")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("delivery_status_is_known", {"status": "done"}),
        ("delivery_sent_has_message_id_or_reason", {"status": "sent"}),
        ("delivery_sending_has_claim", {"status": "sending", "claimed_at": MOMENT}),
        ("delivery_sending_has_claim", {"status": "sending", "token": uuid4()}),
        ("delivery_not_sent_has_reason", {"status": "skipped"}),
        ("delivery_not_sent_has_reason", {"status": "failed"}),
        ("delivery_not_sent_has_reason", {"status": "unknown"}),
    ],
)
def test_an_impossible_delivery_cannot_be_stored(name: str, facts: dict[str, Any]) -> None:
    assert refused_by(name, Delivery(broadcast=make_broadcast(), subscriber=make_subscriber(), **facts))


def test_a_broadcast_has_one_delivery_to_a_subscriber() -> None:
    first = make_delivery(make_broadcast())

    again = Delivery(broadcast=first.broadcast, subscriber=first.subscriber)

    assert refused_by("delivery_once_per_subscriber", again)


def test_a_broadcast_has_one_delivery_to_a_public_channel() -> None:
    broadcast = make_broadcast()
    Delivery.objects.create(broadcast=broadcast)

    assert refused_by("delivery_once_per_public_channel", Delivery(broadcast=broadcast))


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("sending_lock_is_one_row", {"id": 2}),
        ("sending_lock_locked_has_reason", {"locked_at": MOMENT}),
        ("sending_lock_locked_has_reason", {"reason": "why"}),
    ],
)
def test_an_impossible_lock_cannot_be_stored(name: str, facts: dict[str, Any]) -> None:
    assert refused_by(name, SendingLock(**facts))


def test_a_bot_has_one_handle_of_a_picture() -> None:
    picture = make_picture()
    UploadedPicture.objects.create(bot_id=1024, picture=picture, file_id="first")
    UploadedPicture.objects.create(bot_id=2048, picture=picture, file_id="another bot's")

    assert refused_by("picture_uploaded_once_per_bot", UploadedPicture(bot_id=1024, picture=picture, file_id="second"))


def test_a_second_schedule_is_refused_and_not_written_over_the_first() -> None:
    DailySchedule.objects.create(effective_from=MOMENT)

    with pytest.raises(IntegrityError), transaction.atomic():
        DailySchedule.objects.create(effective_from=MOMENT, send_at=time(9))

    assert DailySchedule.objects.get().send_at == time(8)


def test_every_constraint_has_its_test() -> None:
    models = apps.get_app_config("delivery").get_models()
    names = {constraint.name for model in models for constraint in model._meta.constraints}

    assert [name for name in names if f'"{name}"' not in Path(__file__).read_text()] == []
