import json
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from posts.models import Fundraiser, PaymentMethod, Picture
from posts.rendering import telegram
from tests.factories import image_bytes, make_fundraiser

pytestmark = pytest.mark.django_db

JAR = "https://send.monobank.ua/jar/SANDBOX001"
SAMPLES = Path(__file__).parents[2] / "posts" / "samples" / "fundraisers.json"
ENTRY = {"title": "Пікап", "text": "Для медиків", "url": JAR}


def run(folder: Path, *entries: Any, options: tuple[str, ...] = ()) -> tuple[str, str]:
    """What the command says, and what it complains about."""
    file = folder / "fundraisers.json"
    file.write_text(json.dumps(entries), "utf-8")
    out, err = StringIO(), StringIO()
    try:
        call_command("import_fundraisers", str(file), *options, stdout=out, stderr=err)
    except CommandError as error:
        err.write(str(error))
    return out.getvalue(), err.getvalue()


def test_title_text_and_url_are_enough(tmp_path: Path) -> None:
    said, complaint = run(tmp_path, ENTRY)

    assert (said, complaint) == ("Fundraisers imported: 1 new, 0 updated.\n", "")
    fundraiser = Fundraiser.objects.get()
    assert (fundraiser.title, fundraiser.text, fundraiser.status) == ("Пікап", "Для медиків", "draft")
    assert [method.link for method in fundraiser.payment_methods.all()] == [JAR]


def test_every_key_finds_its_place(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "збір №1 (копія).JPG").write_bytes(image_bytes(kind="JPEG"))
    entry = {
        **ENTRY,
        "payments": [
            "https://privat24.ua/send/a1",
            "4111 1111 1111 1111",
            JAR,  # named twice: counts once
            {"url": "paypal.me/volunteer", "label": "З-за кордону"},
            {"account": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "rail": "crypto", "label": "USDT (TRC-20)"},
        ],
        "goal": 120_000,
        "currency": "USD",
        "photo": "photos/збір №1 (копія).JPG",
        "alt": "Пікап біля лікарні",
        "starts_on": "2026-10-01",
        "ends_on": "2026-12-31",
        "pinned_to": "2026-10-25",
        "external_id": "a-1",
        "status": "paused",
        "times_shown": 3,
        "last_shown_on": "2026-09-30",
    }

    _said, complaint = run(tmp_path, entry)

    assert complaint == ""
    fundraiser = Fundraiser.objects.get()
    assert (fundraiser.goal, fundraiser.currency, fundraiser.picture_alt) == (120_000, "USD", "Пікап біля лікарні")
    assert (fundraiser.starts_on, fundraiser.ends_on) == (date(2026, 10, 1), date(2026, 12, 31))
    assert (fundraiser.pinned_to, fundraiser.external_id) == (date(2026, 10, 25), "a-1")
    assert (fundraiser.status, fundraiser.times_shown, fundraiser.last_shown_on) == ("paused", 3, date(2026, 9, 30))
    assert fundraiser.picture == Picture.objects.get()
    assert [(method.rail, method.label) for method in fundraiser.payment_methods.all()] == [
        ("monobank", ""),
        ("privatbank", ""),
        ("card", ""),
        ("paypal", "З-за кордону"),
        ("crypto", "USDT (TRC-20)"),
    ]


def test_the_same_external_id_updates_what_is_named(tmp_path: Path) -> None:
    fundraiser = make_fundraiser(
        external_id="a-1",
        goal=500,
        priority=3,
        pinned_to=date(2026, 10, 25),
        times_shown=2,
        last_shown_on=date(2026, 9, 1),
    )

    said, complaint = run(tmp_path, {**ENTRY, "external_id": "a-1", "pinned_to": None})

    assert (said, complaint) == ("Fundraisers imported: 0 new, 1 updated.\n", "")
    fundraiser.refresh_from_db()
    assert (fundraiser.title, fundraiser.goal, fundraiser.priority, fundraiser.times_shown) == ("Пікап", 500, 3, 2)
    assert fundraiser.pinned_to is None
    assert fundraiser.status == "approved"
    assert [method.link for method in PaymentMethod.objects.all()] == [JAR]


def test_approve_approves_drafts_and_leaves_other_statuses(tmp_path: Path) -> None:
    run(tmp_path, ENTRY, {**ENTRY, "status": "draft"}, {**ENTRY, "status": "closed"}, options=("--approve",))

    assert [fundraiser.status for fundraiser in Fundraiser.objects.order_by("pk")] == ["approved", "approved", "closed"]


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"titel": "Пікап"}, "titel: This key is unknown"),
        ({"title": ""}, "title: This is missing"),
        ({"title": "ї" * 201}, "title: "),
        ({"title": 5}, "title: Expects a text"),
        ({"text": "<b>Для медиків"}, "text: The tag <b> is not closed"),
        ({"text": "ї" * 4097}, "text: 4104 of 4096 characters"),
        ({"url": "https://evil-privat24.ua/send/a"}, "url: Links to evil-privat24.ua"),
        ({"url": "4111 1111 1111 1112"}, "url: A digit of the card"),
        ({"payments": "4111 1111 1111 1111"}, "payments: Expects a list"),
        ({"payments": [5]}, "payments: Expects a link"),
        ({"payments": ["https://example.org"]}, "payments: Links to example.org"),
        ({"payments": [{"url": JAR, "name": "x"}]}, "payments: Unknown: name"),
        ({"payments": [{"url": JAR, "rail": "paypal"}]}, "payments: This is monobank"),
        ({"payments": ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"]}, "payments: Name the coin"),
        ({"goal": 0}, "goal: Ensure this value is greater"),
        ({"goal": -5}, "goal: "),
        ({"goal": "багато"}, "goal: Expects a whole number"),
        ({"goal": True}, "goal: Expects a whole number"),
        ({"currency": "BTC"}, "currency: "),
        ({"starts_on": "1 жовтня"}, "starts_on: "),
        ({"starts_on": "2026-10-02", "ends_on": "2026-10-01"}, "as a whole: The last day is before"),
        ({"pinned_to": "2026-10-25"}, "pinned_to: Another fundraiser is pinned"),
        ({"times_shown": 3}, "as a whole: How often it was shown"),
        ({"status": "published"}, "status: "),
        ({"photo": "no.jpg"}, "photo: no.jpg"),
        ({"photo": "."}, "photo: "),
        ({"photo": "fundraisers.json"}, "photo: This file is no picture"),
        ({"photo": "../secret.png"}, "photo: The photo lies outside"),
        ({"photo": "/etc/hostname"}, "photo: The photo lies outside"),
    ],
)
def test_a_fault_is_named_and_nothing_is_stored(tmp_path: Path, facts: dict[str, Any], fault: str) -> None:
    (tmp_path / "secret.png").write_bytes(image_bytes())
    folder = tmp_path / "import"
    folder.mkdir()
    good = {**ENTRY, "pinned_to": "2026-10-25"}

    said, complaint = run(folder, good, {**ENTRY, **facts})

    assert fault in complaint
    assert complaint.startswith("entry 2, ")
    assert complaint.endswith("Nothing was imported. Faults: 1.")
    assert said == ""
    assert not Fundraiser.objects.exists()


def test_all_faults_are_found_in_one_reading(tmp_path: Path) -> None:
    _said, complaint = run(
        tmp_path, "Пікап", {**ENTRY, "photo": "no.jpg", "currency": "BTC", "payments": ["x"]}, {"title": "Пікап"}
    )

    assert [line.partition(":")[0] for line in complaint.splitlines()] == [
        "entry 1, as a whole",
        "entry 2, photo",
        "entry 2, currency",
        "entry 2, payments",
        "entry 3, text",
        "entry 3, url",
        "Nothing was imported. Faults",
    ]


def test_an_import_neither_revives_nor_unapproves(tmp_path: Path) -> None:
    make_fundraiser(external_id="gone", status=Fundraiser.Status.WITHDRAWN)
    make_fundraiser(external_id="good")

    _said, complaint = run(
        tmp_path,
        {**ENTRY, "external_id": "gone", "status": "approved"},
        {**ENTRY, "external_id": "good", "status": "draft"},
    )

    assert "entry 1, status: “Пікап” cannot become approved" in complaint
    assert "entry 2, status: It is approved by now" in complaint
    assert [fundraiser.status for fundraiser in Fundraiser.objects.order_by("pk")] == ["withdrawn", "approved"]


def test_a_status_of_the_file_is_taken_over(tmp_path: Path) -> None:
    make_fundraiser(external_id="full")

    run(tmp_path, {**ENTRY, "external_id": "full", "status": "closed"}, {**ENTRY, "status": "approved"})

    assert [fundraiser.status for fundraiser in Fundraiser.objects.order_by("pk")] == ["closed", "approved"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"title;text", "is no JSON file"),
        (b"\xff\xfe\x00", "is no JSON file"),
        (b"{}", "holds no list"),
        (b"[" * 99999, "no JSON"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "fundraisers.json"
    file.write_bytes(content)

    with pytest.raises(CommandError, match=complaint):
        call_command("import_fundraisers", str(file))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no\.json"):
        call_command("import_fundraisers", str(tmp_path / "no.json"))


def test_nothing_in_the_file_is_no_error(tmp_path: Path) -> None:
    assert run(tmp_path) == ("Fundraisers imported: 0 new, 0 updated.\n", "")


def test_the_samples_are_ten_and_ready_to_be_sent() -> None:
    call_command("import_fundraisers", str(SAMPLES), "--approve", stdout=StringIO())
    call_command("import_fundraisers", str(SAMPLES), "--approve", stdout=StringIO())

    samples = Fundraiser.objects.approved()
    assert len(samples) == 10
    assert all(fundraiser.picture_alt and telegram.render(fundraiser).picture for fundraiser in samples)
    assert Picture.objects.count() == 10
