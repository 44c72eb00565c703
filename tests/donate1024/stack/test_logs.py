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
    ("written", "words"),
    [
        ("06:41 INFO a: begins\n06:41 CRITICAL b: too late\n06:41 WARNING c: not told\n", "06:41 CRITICAL b: too late"),
        ("Traceback\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("06:41 INFO a: begins\n06:41 INFO a: ends\n", "06:41 INFO a: ends"),
        ("", ""),
    ],
)
def test_the_reason_of_an_end_is_no_remark_that_follows_it(tmp_path: Path, written: str, words: str) -> None:
    log = tmp_path / "bot.log"
    log.write_text(written)

    assert logs.last_words(log) == words
