import runpy

import pytest

from donate1024.stack.environment import ROOT

CONFIG = str(ROOT / "flowerconfig.py")


@pytest.mark.parametrize("value", ["", "operator", "operator:", ":secret"])
def test_flower_does_not_start_without_a_user_and_a_password(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FLOWER_BASIC_AUTH", value)

    with pytest.raises(SystemExit, match="FLOWER_BASIC_AUTH"):
        runpy.run_path(CONFIG)


def test_flower_listens_on_this_machine_only_and_touches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "operator:secret")

    chosen = runpy.run_path(CONFIG)

    assert chosen["address"] == "127.0.0.1"
    assert chosen["read_only"] is True
    assert chosen["basic_auth"] == ["operator:secret"]
