"""Whether a morning went as promised: judged by what the sandbox accepted, not by our own word."""

from collections import Counter
from collections.abc import Set as AbstractSet
from typing import Any


def faults(*, books: dict[str, Any], served: Counter[int], reachable: AbstractSet[int], recipients: int) -> list[str]:
    """What went wrong, a sentence each; an empty list is a morning as promised.

    `books` as `broadcast status --json` prints them, `served` by the sandbox's ledger.
    """
    counts: dict[str, int] = books["counts"]
    twice = sum(1 for count in served.values() if count > 1)
    wrong = {
        f"the broadcast is {books['status']}, not finished": books["status"] != "finished",
        f"{books['recipients']} recipients instead of {recipients}": books["recipients"] != recipients,
        f"the states add up to {sum(counts.values())}": sum(counts.values()) != books["recipients"],
        f"{counts['sent']} are booked as sent, {served.total()} were accepted": counts["sent"] != served.total(),
        f"{twice} people got more than one message": twice > 0,
        f"{len(reachable - served.keys())} people who could be reached got nothing": bool(reachable - served.keys()),
        f"{len(served.keys() - reachable)} others got something": bool(served.keys() - reachable),
    }
    return [sentence for sentence, is_wrong in wrong.items() if is_wrong]
