"""A PostgreSQL that freezes keeps the bot silent while that lasts, and no longer."""

from pathlib import Path
from time import sleep

import pytest

from donate1024.stack.embedded import Postgres
from subscribers.bot.database import AT_A_TIME
from tests.end_to_end.installation import Installation, Process
from tests.end_to_end.killing import frozen, kill, pid, start_again
from tests.subscribers.bot.talking import Talk

pytestmark = pytest.mark.end_to_end

LASTS = 25  # seconds: the bot gives its lock up after 10 to 20


def threads(bot: Process) -> int:
    return len(list(Path(f"/proc/{bot.process.pid}/task").iterdir()))


@pytest.mark.parametrize(
    ("with_children", "is_killed"),
    [
        pytest.param(True, False, id="and thaws"),
        pytest.param(True, True, id="and is started again", marks=pytest.mark.long),
        pytest.param(False, False, id="to newcomers only", marks=pytest.mark.long),
    ],
)
def test_a_database_that_freezes_costs_nobody_their_answer_and_piles_up_no_threads(
    installation: Installation,
    postgres: Postgres,
    with_children: bool,  # noqa: FBT001
    is_killed: bool,  # noqa: FBT001
) -> None:
    talk = Talk(installation)
    olia = talk.meet()
    bot = talk.start_bot()
    talk.say(olia, "/start")
    talk.replies(olia)
    before = threads(bot)

    with frozen(pid(postgres), with_children=with_children):
        counts = []
        for _ in range(LASTS):
            talk.say(olia, "/stop", "/start")
            sleep(1)
            counts.append(threads(bot))
        if is_killed:
            kill(postgres)
    if is_killed:
        start_again(postgres)
    taras = talk.meet()
    talk.say(taras, "/start")

    talk.replies(taras, seconds=120)
    assert max(counts) <= before + AT_A_TIME + 2  # these two may be the alerts'
    with frozen(pid(postgres), with_children=with_children):
        talk.say(olia, "/start")
        sleep(2)
        assert bot.stop(seconds=45) == 0
