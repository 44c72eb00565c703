import json
import subprocess
import sys
from pathlib import Path

import pytest

from donate1024.stack.environment import ROOT
from tests.bench.judge import Judge


def test_the_judge_notices_a_second_message_to_one_chat() -> None:
    judge = Judge()

    for chat_id in (1, 2, 1, 3):
        judge.accepts(chat_id)

    assert (judge.report()["received"], judge.report()["twice"]) == (4, 1)


def test_the_judge_refuses_what_is_over_the_limit_and_does_not_count_it() -> None:
    judge = Judge(limit=2)

    assert [judge.accepts(chat_id) for chat_id in (1, 2, 3)] == [True, True, False]

    assert (judge.report()["received"], judge.report()["refused"]) == (2, 1)


@pytest.mark.end_to_end
def test_a_row_runs_at_a_small_size_and_writes_its_figures_and_its_graph(tmp_path: Path) -> None:
    figures, graph = tmp_path / "figures.json", tmp_path / "rate.png"
    command = [sys.executable, "-m", "tests.bench", "engine", "--size", "0.005", "--json", str(figures)]
    command += ["--graph", str(graph)]

    subprocess.run(command, cwd=ROOT, check=True, timeout=200, stdout=subprocess.DEVNULL)

    written = json.loads(figures.read_text())
    assert [figure["value"] for figure in written["figures"] if figure["what"] == "sent twice"] == [0]
    assert sum(written["tenths"]["engine"]) == 100
    assert graph.read_bytes().startswith(b"\x89PNG")
