"""The same bot and broadcast against a Telegram stand-in that others wrote: ours must not be kinder than theirs."""

from collections import Counter

import pytest

from donate1024.sandbox import TOKEN
from subscribers.models import Subscriber
from tests.end_to_end.installation import Installation
from tests.factories import make_fundraiser, make_picture
from tests.telegram_peer import BLOCKED, DEACTIVATED, TelegramPeer, flood

pytestmark = pytest.mark.end_to_end


def test_a_morning_and_the_bot_work_against_the_second_stand_in(installation: Installation) -> None:
    make_fundraiser(picture=make_picture(), picture_alt="Авто")
    people = installation.add_people(12)
    installation.set_clock()
    installation.enable_schedule()
    with TelegramPeer() as telegram:
        installation.env["TELEGRAM_API_URL"] = telegram.url
        telegram.faults["sendPhoto", people[2]].append(BLOCKED)
        telegram.faults["sendPhoto", people[3]].append(DEACTIVATED)
        telegram.faults["sendPhoto", people[4]].append(flood(1))
        installation.worker()
        installation.bot().wait_for("The bot listens")

        installation.beat()

        books = installation.wait_for_status("finished")
        assert books["counts"]["sent"] == 10
        assert books["skipped"] == {"blocked": 1, "deactivated": 1}
        telegram.push(_start_of(7007), TOKEN)
        installation.wait_until(lambda: _posts(telegram).count("7007") == 1, what="the newcomer's post")
        assert Subscriber.objects.get(chat_id=7007).is_active
        expected = dict.fromkeys([*map(str, people), "7007"], 1) | {str(people[4]): 2}  # again, after its 429
        assert Counter(_posts(telegram)) == expected
        uploads = [names for method, _, names in telegram.calls if method == "sendPhoto" and names]
        assert len(uploads) == 1
        for process in installation.processes:  # before their Telegram goes
            process.end()


def _posts(telegram: TelegramPeer) -> list[str]:
    return [fields["chat_id"] for method, fields, _ in telegram.calls if method == "sendPhoto"]


def _start_of(chat_id: int) -> dict[str, object]:
    person = {"id": chat_id, "is_bot": False, "first_name": "Оля"}
    return {
        "update_id": 1,
        "message": {
            "message_id": 1,
            "date": 1,
            "chat": {"id": chat_id, "type": "private", "first_name": "Оля"},
            "from": person,
            "text": "/start",
            "entities": [{"type": "bot_command", "offset": 0, "length": 6}],
        },
    }
