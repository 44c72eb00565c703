from pathlib import Path

import pytest

from donate1024.stack import logs


def test_a_long_log_is_put_aside_while_its_process_goes_on_writing(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as process:
        process.write(b"old\n" * (logs.LARGEST // 4 + 1))
        logs.keep_small(log)
        process.write(b"new\n")

    assert log.read_text() == "new\n"
    assert (tmp_path / "web.old.log").stat().st_size > logs.LARGEST


def test_a_short_log_stays(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("old\n")

    logs.keep_small(log)

    assert log.read_text() == "old\n"


def test_a_long_log_is_cut_on_a_full_disk_too(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"old\n" * (logs.LARGEST // 4 + 1))
    (tmp_path / "web.old.log").symlink_to("/dev/full")

    logs.keep_small(log)

    assert log.read_text() == ""
    assert not (tmp_path / "web.old.log").is_symlink()


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("06:41 INFO a: begins\n06:41 CRITICAL b: too late\n06:41 WARNING c: not told\n", "too late"),
        (
            "06:41 ERROR a: no\nTraceback\n  File\nposts.its.OwnError: 'a'\n06:41 INFO a: ends\n",
            "posts.its.OwnError: 'a'",
        ),
        ("donate1024 cannot start: TIME_ZONE: is wrong\n", "donate1024 cannot start: TIME_ZONE: is wrong"),
        ("2026-12-01 06:41:00 UTC FATAL:  the disk is full\n", "the disk is full"),
        ("06:41 INFO a: no error\n06:41 INFO a: ends\nbye\n", ""),
        ("", ""),
    ],
)
def test_an_end_is_explained_by_an_error_of_this_life_alone(tmp_path: Path, written: str, says: str) -> None:
    log = tmp_path / "bot.log"
    before = "06:40 ERROR a: another life\n"
    log.write_text(before + written)

    assert logs.last_error(log, len(before)) == says
