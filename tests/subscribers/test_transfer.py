"""CSV files as people really bring them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import pytest
from django.core.management import CommandError, call_command

from subscribers.csv_rows import BadLine, Unreadable
from subscribers.models import Subscriber
from subscribers.transfer import Imported, export_subscribers, import_subscribers
from tests.factories import make_subscriber

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)


def imported(*lines: str, encoding: str = "utf-8", end: str = "\n") -> Imported:
    return import_subscribers(end.join(lines).encode(encoding), at=NOON)


def chat_ids() -> set[int]:
    return set(Subscriber.objects.values_list("chat_id", flat=True))


def numbers(bad: Iterable[BadLine]) -> list[int]:
    return [line.number for line in bad]


def test_good_lines_are_imported_without_a_start() -> None:
    result = imported("chat_id,username,first_name,language", "5134861499,@olia,Оля,uk", "-1002471352452,,Село,")

    olia = Subscriber.objects.get(chat_id=5134861499)
    assert result == Imported(added=2)
    assert (olia.username, olia.first_name, olia.language) == ("olia", "Оля", "uk")
    assert olia.joined_at == NOON
    assert olia.started_at is None
    assert olia.is_active


@pytest.mark.parametrize(
    ("lines", "encoding", "end"),
    [
        (["\ufeffchat_id,first_name", "5134861499,Оля"], "utf-8", "\r\n"),
        (["Chat_ID;First_Name", "5134861499;Оля"], "cp1251", "\r\n"),
        (["first_name\tCHAT_ID", "Оля\t 5134861499 "], "utf-8", "\n"),
        (["chat_id , first_name", "", ' 5134861499 ,"Оля"', ",", "\xa0,"], "utf-8", "\n"),
    ],
    ids=["byte order mark", "CP1251 and semicolons", "tabs", "empty lines and spaces"],
)
def test_what_spreadsheets_write_is_read(lines: list[str], encoding: str, end: str) -> None:
    result = imported(*lines, encoding=encoding, end=end)

    assert result == Imported(added=1)
    assert Subscriber.objects.get().first_name == "Оля"


@pytest.mark.parametrize(
    "spoiled",
    [
        "abc",
        '"5,13486E+09"',
        "5.13486E+09",
        "5134861499.0",
        "12345678901234567890",
        "4503599627370497",
        "0",
        "",
        "+5134861499",
        "٣٤",
    ],
)
def test_an_id_that_is_none_is_refused_with_its_line(spoiled: str) -> None:
    result = imported("chat_id,first_name", "101,Оля", f"{spoiled},Тарас", "102,Ганна")

    assert numbers(result.bad) == [3]
    assert chat_ids() == {101, 102}


@pytest.mark.parametrize(
    "line",
    [
        "102,Оля,Петренко,uk,,",
        f"102,{'о' * 257},,,",
        "102,Оля\0,,,",
        "102,Оля,tomorrow,,",
        "102,Оля,2026-02-30,,",
        "102,Оля,0001-01-01T00:00:00,,",
        "102,Оля,,2026-01-01T08:00:00,nobody knows",
        "102,Оля,,,blocked",
    ],
)
def test_a_line_that_is_not_plainly_right_is_refused(line: str) -> None:
    result = imported("chat_id,first_name,joined_at,left_at,left_reason", line, "101,Тарас,,,")

    assert numbers(result.bad) == [2]
    assert chat_ids() == {101}


def test_a_line_break_in_quotes_does_not_shift_the_numbers() -> None:
    result = imported("chat_id,first_name", '101,"Оля', 'і Тарас"', "abc,Ганна")

    assert numbers(result.bad) == [4]
    assert Subscriber.objects.get().first_name == "Оля\nі Тарас"


def test_quotes_that_are_never_closed_are_told_with_what_they_swallow() -> None:
    result = imported("chat_id,first_name", "101,Оля", '102,"Тарас', "103,Ганна")

    assert numbers(result.bad) == [3]
    assert "up to line 4" in result.bad[0].reason
    assert chat_ids() == {101}


def test_a_moment_without_a_zone_is_of_kyiv() -> None:
    imported("chat_id,joined_at", "101,2026-07-01 09:00", "102,2026-07-01T06:00:00Z")

    assert {*Subscriber.objects.values_list("joined_at", flat=True)} == {datetime(2026, 7, 1, 6, tzinfo=UTC)}


def test_repeated_lines_count_once() -> None:
    result = imported("chat_id,first_name", *["101,Оля"] * 1000)

    assert result == Imported(added=1, repeated=999)


def test_a_chat_that_left_in_one_of_its_lines_has_left() -> None:
    imported("chat_id,left_at", "101,", "101,2026-01-01T08:00:00Z", "101,")

    assert Subscriber.objects.get().left_reason == Subscriber.LeftReason.STOPPED


def test_who_left_stays_off() -> None:
    make_subscriber(chat_id=101, first_name="Оля", left_reason="stopped")

    result = imported("chat_id,first_name", "101,Інша Оля")

    assert result == Imported(known=1)
    assert Subscriber.objects.get().first_name == "Оля"
    assert not Subscriber.objects.get().is_active


def test_who_is_with_us_does_not_leave_by_an_old_file() -> None:
    make_subscriber(chat_id=101)

    imported("chat_id,left_at", "101,2020-01-01T00:00:00Z")

    assert Subscriber.objects.get().is_active


@pytest.mark.parametrize("content", [b"", b"\n\n", b"101\n102\n", b"PK\x03\x04\x98\xff", b'"chat_id\n101'])
def test_a_file_that_is_no_list_is_refused_as_a_whole(content: bytes) -> None:
    with pytest.raises(Unreadable):
        import_subscribers(content, at=NOON)


def test_what_was_exported_imports_to_the_same(tmp_path: Path) -> None:
    formulas = ["=1+1", "+380", "-1", "@all", "'quoted", "'=1", '"', "Оля, <3\nі ; Тарас", "NULL"]
    for first_name in formulas:
        make_subscriber(first_name=first_name, username="olia", language="uk")
    make_subscriber(chat_id=-1002471352452, left_reason="blocked")
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    export_subscribers(before)
    people = list(Subscriber.objects.order_by("pk").values_list("chat_id", "first_name", "left_at", "left_reason"))

    Subscriber.objects.all().delete()
    result = import_subscribers(before.read_bytes(), at=NOON)
    export_subscribers(after)

    assert result == Imported(added=len(formulas) + 1)
    assert list(Subscriber.objects.order_by("pk").values_list("chat_id", "first_name", "left_at", "left_reason")) == (
        people
    )
    assert after.read_bytes() == before.read_bytes()


def test_no_exported_name_is_a_formula(tmp_path: Path) -> None:
    make_subscriber(first_name="=HYPERLINK(0)", username="@cmd")

    export_subscribers(tmp_path / "out.csv")

    cells = (tmp_path / "out.csv").read_text().splitlines()[1].split(",")
    assert [cell for cell in cells[1:] if cell.startswith(("=", "+", "-", "@"))] == []


def test_the_exported_file_is_its_owners_alone(tmp_path: Path) -> None:
    export_subscribers(tmp_path / "out.csv")

    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_two_hundred_thousand_lines_take_seconds() -> None:
    lines = "\n".join(f"{chat_id},Оля {chat_id}" for chat_id in range(1, 200_001))
    began = monotonic()

    result = imported("chat_id,first_name", lines)

    assert result == Imported(added=200_000)
    assert monotonic() - began < 20


def test_the_command_lists_bad_lines_and_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "people.csv"
    file.write_text("chat_id\n101\nabc\n101\n")

    call_command("import_subscribers", str(file))

    said = capsys.readouterr()
    assert said.err == "line 3: chat_id 'abc' is no Telegram id\n"
    assert "1 added, 0 known already, 1 repeated in the file, 1 bad lines" in said.out


@pytest.mark.parametrize("command", ["import_subscribers", "export_subscribers"])
def test_a_file_out_of_reach_is_named(command: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere.people\.csv: No such file"):
        call_command(command, str(tmp_path / "nowhere" / "people.csv"))
