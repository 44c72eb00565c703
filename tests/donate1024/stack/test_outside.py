from pathlib import Path

import pytest

from donate1024.sandbox import TOKEN
from donate1024.stack import outside, ports
from tests.sandbox_process import SandboxProcess


def test_the_bot_is_named_by_telegram(tmp_path: Path) -> None:
    with SandboxProcess(tmp_path) as telegram:
        assert outside.bot_name(telegram.url, TOKEN).startswith("@")


def test_a_refused_token_is_named_as_the_setting(tmp_path: Path) -> None:
    nobodys = "123456789:" + "A" * 35

    with SandboxProcess(tmp_path) as telegram, pytest.raises(outside.Unreachable, match=r"TELEGRAM_BOT_TOKEN \(401\)"):
        outside.bot_name(telegram.url, nobodys)


def test_a_telegram_out_of_reach_is_said_so() -> None:
    with pytest.raises(outside.Unreachable, match="cannot be reached"):
        outside.bot_name(f"http://127.0.0.1:{ports.free()}", "123456789:" + "A" * 35)
