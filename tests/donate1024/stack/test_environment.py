from pathlib import Path

import pytest

from donate1024.stack import environment
from donate1024.stack.environment import ROOT


def test_what_is_set_counts_before_env_file_and_secrets(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("SECRET_KEY=file\nTIME_ZONE=file\n")
    (tmp_path / "secrets.env").write_text("SECRET_KEY=generated\nTIME_ZONE=generated\nMETRICS_TOKEN=generated\n")
    environ = {
        "DONATE1024_ENV_FILE": str(tmp_path / "env"),
        "STATE_DIR": str(tmp_path),
        "SECRET_KEY": "set",
        "DATABASE_URL": "postgres://elsewhere/it",
    }

    state = environment.load(environ)

    assert state == tmp_path
    assert environ["SECRET_KEY"] == "set"
    assert environ["TIME_ZONE"] == "file"
    assert environ["METRICS_TOKEN"] == "generated"
    assert environ["DATABASE_URL"] == "postgres://elsewhere/it"
    assert environ["REDIS_URL"] == environment.redis_url(tmp_path)


def test_each_real_bot_has_a_state_directory_of_its_own(tmp_path: Path) -> None:
    token = "123456789:" + "a" * 35

    assert environment.state_dir({"TELEGRAM_BOT_TOKEN": token}).name == "123456789"
    assert environment.state_dir({}) == ROOT / ".local"
    assert environment.state_dir({"TELEGRAM_BOT_TOKEN": token, "STATE_DIR": str(tmp_path)}) == tmp_path


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "127.0.0.1"),
        ({"NO_PROXY": "intranet"}, "intranet,127.0.0.1"),
        ({"NO_PROXY": "intranet", "no_proxy": "printer"}, "printer,127.0.0.1"),
    ],
)
def test_the_sandbox_is_spoken_to_past_the_persons_proxy(environ: dict[str, str], expected: str) -> None:
    assert environment.of_sandbox(environ, port=8081) == {
        "DONATE1024_SANDBOX": "1",
        "TELEGRAM_API_URL": "http://127.0.0.1:8081",
        "no_proxy": expected,
    }
