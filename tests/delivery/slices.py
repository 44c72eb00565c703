"""One slice in this process, against the sandbox."""

import asyncio
from datetime import timedelta
from typing import Any

from delivery.database_thread import DatabaseThread
from delivery.models import Broadcast, Delivery
from delivery.sending import Frozen, Slice, run_slice
from delivery.window import Window
from subscribers.telegram.client import open_bot
from subscribers.telegram.pace import Pace, open_pace
from tests.factories import LONG_AGO, make_delivery, make_subscriber
from tests.sandbox_process import SandboxProcess


def make_recipients(telegram: SandboxProcess, broadcast: Broadcast, count: int) -> list[int]:
    """So many people with an open chat, their deliveries due one after the other; returns their chat ids."""
    people = [make_subscriber() for _ in range(count)]
    telegram.post("/control/chats", [{"chat_id": person.chat_id} for person in people])
    for number, person in enumerate(people):
        make_delivery(broadcast, subscriber=person, not_before=LONG_AGO + timedelta(seconds=number))
    return [person.chat_id for person in people]


def send(broadcast: Broadcast) -> bool:
    """Run one slice to its end; whether something is left for a successor."""
    return asyncio.run(run_slice(broadcast.pk))


def send_frozen(frozen: Frozen, database: DatabaseThread | None = None, *, pace: Pace | None = None) -> bool:
    """Run one slice that has read its broadcast already."""

    async def run() -> bool:
        window = Window(per_second=100, slices=1)
        async with database or DatabaseThread() as thread, open_pace() as common, open_bot(connections=4) as bot:
            return await Slice(frozen, thread, pace or common, bot, window).run()

    return asyncio.run(run())


def fault(telegram: SandboxProcess, what: Any, **where: Any) -> None:
    telegram.post("/control/faults", [{"fault": what, **where}])


def served(telegram: SandboxProcess, chats: list[int]) -> list[int]:
    """How many messages each chat got, by the sandbox's own ledger."""
    return [len(telegram.sent_to(chat)) for chat in chats]


def calls_to(telegram: SandboxProcess, chats: list[int]) -> list[dict[str, Any]]:
    """Every call to these chats, the refused ones too, in their order."""
    return [call for call in telegram.get("/control/calls") if call["chat_id"] in {str(chat) for chat in chats}]


def states(broadcast: Broadcast) -> list[str]:
    """The rows' states, in the order in which they were due."""
    rows = Delivery.objects.filter(broadcast=broadcast)
    return list(rows.order_by("subscriber_id").values_list("status", flat=True))
