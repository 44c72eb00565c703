"""`make run` with settings that cannot work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from donate1024.stack import environment, ports


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TELEGRAM_BOT_TOKEN", "abc"),
        ("TIME_ZONE", "Kyiv"),
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:9/it"),
        ("REDIS_URL", "redis://127.0.0.1:9/0"),
    ],
)
def test_a_wrong_setting_is_named_and_no_data_is_begun(tmp_path: Path, name: str, value: str) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in environment.NAMES}
    chosen = {name: str(ports.free()) for name in environment.PORTS}
    env = clean | chosen | {"DONATE1024_ENV_FILE": "", "STATE_DIR": str(tmp_path), name: value}

    done = subprocess.run(
        [sys.executable, "-m", "donate1024.stack", "run"],
        cwd=environment.ROOT,
        env=env,
        text=True,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 1
    assert f"{name}: " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "postgres").exists()
