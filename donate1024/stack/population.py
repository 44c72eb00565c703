"""The 300 people of the demo: most listen, some have left in each way there is."""

import csv
import io
from typing import Any

FIRST_CHAT_ID = 700_000_001
STATES = ("open",) * 291 + ("blocked",) * 6 + ("deactivated",) * 2 + ("absent",)
NAMES = ("Оксана", "Тарас", "Марія", "Андрій", "Соломія", "Богдан", "Ірина", "Остап", "Леся", "Юрій")


def chats() -> list[dict[str, Any]]:
    """As the sandbox takes them; those who left are spread over the list."""
    count = len(STATES)
    # 7 and 300 have no common divisor: each state is used once, none beside its like.
    states = [STATES[place * 7 % count] for place in range(count)]
    return [
        {"chat_id": FIRST_CHAT_ID + place, "first_name": NAMES[place % len(NAMES)], "state": state}
        for place, state in enumerate(states)
    ]


def as_csv(people: list[dict[str, Any]]) -> str:
    """As `import_subscribers` takes them. It says nothing of who left: the broadcast has to find that out."""
    output = io.StringIO()
    writer = csv.DictWriter(output, ["chat_id", "first_name"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(people)
    return output.getvalue()


def reachable(people: list[dict[str, Any]]) -> set[int]:
    return {person["chat_id"] for person in people if person["state"] == "open"}
