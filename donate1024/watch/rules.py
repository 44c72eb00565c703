"""Which part may be silent for how long, and what is told of it."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_noop

from subscribers.bot import trouble

# Read by people on a phone; each takes the minutes.
DATABASE_AWAY = gettext_noop(
    "The database has not answered, or has taken nothing down, for %s min. Nothing is sent and nobody is answered "
    "meanwhile; nothing is lost. What to do: see whether PostgreSQL runs, its disk has room, and it is neither set "
    "read-only nor a standby. Everything goes on by itself once it takes down again."
)
VALKEY_AWAY = gettext_noop(
    "Valkey, which hands out the work, has not answered, or has taken nothing in, for %s min. No fundraiser goes out "
    "meanwhile; nothing is lost. What to do: see whether Valkey runs, and whether its memory (maxmemory) or its disk "
    "is full. Everything goes on by itself once it takes in again."
)
BEAT_SILENT = gettext_noop(
    "The part that keeps the time has stood still for %s min. No morning begins by itself, and one on its way may "
    "stop. What to do: start donate1024 again; if this comes back, the log “beat” says why."
)
TELEGRAM_QUEUE_SILENT = gettext_noop(
    "The part that writes to subscribers has not answered for %s min. A fundraiser on its way stands still; nobody "
    "gets it twice. What to do: start donate1024 again; if this comes back, the log “telegram” says why."
)
BLUESKY_QUEUE_SILENT = gettext_noop(
    "The part that posts to Bluesky has not answered for %s min. Today's fundraiser may be missing there; Telegram is "
    "not touched by it. What to do: start donate1024 again; if this comes back, the log “default” says why."
)
DEFAULT_QUEUE_SILENT = gettext_noop(
    "The part that plans the mornings has not answered for %s min. No morning begins by itself, and newcomers wait. "
    "What to do: start donate1024 again; if this comes back, the log “default” says why."
)
PLAN_SILENT = gettext_noop(
    "For %s min nobody has looked whether today's fundraiser is due. It does not begin by itself. "
    "What to do: start donate1024 again; until then «Send now» on the desk begins it."
)
SWEEP_SILENT = gettext_noop(
    "For %s min nobody has put right what broke off. A fundraiser on its way may stand still, and newcomers wait. "
    "What to do: start donate1024 again; if this comes back, the log “default” says why."
)
LOOK_SILENT = gettext_noop(
    "For %s min nobody has looked after the bot. If it fell silent now, you would not hear of it. "
    "What to do: start donate1024 again; if this comes back, the log “default” says why."
)
BOT_SILENT = gettext_noop(
    "The bot has not answered for %s min. Whoever writes to it waits; Telegram keeps their messages for a day. "
    "What to do: start donate1024 again; if this comes back, the log “bot” says why."
)
BOT_DEAF = gettext_noop(
    "The bot has heard nothing from Telegram for %s min. Whoever writes to it waits; the fundraiser goes out all the "
    "same. What to do: see whether this machine reaches Telegram, then start donate1024 again."
)
WEB_SILENT = gettext_noop(
    "The pages and the desk have not opened for %s min. Nothing else stands still: people in Telegram get their "
    "fundraiser and their answers. What to do: start donate1024 again; if this comes back, the log “web” says why."
)
DELIVERIES_STUCK = gettext_noop(
    "Today's fundraiser has stood still for %s min, and people wait for it. It goes on by itself once the cause is "
    "gone, and nobody gets it twice. What to do: open today's broadcast on the desk: it says what it waits for."
)
MORNING_MISSING = gettext_noop(
    "Today's fundraiser should have begun %s min ago. Nobody has got it yet. "
    "What to do: open the desk: see that a fundraiser is approved and that sending is not locked, then «Send now»."
)


@dataclass(frozen=True)
class Rule:
    """One part, which is also the name of the condition that is told.

    After `limit` seconds of silence /healthz is red; after `told_after`, people are told, unless one of the `causes`
    has been silent for half its own limit: then that is told, when it is time.
    """

    part: str
    limit: float
    text: str
    causes: tuple[str, ...] = ()
    told_after: float = 0.0  # or with the limit, if that is later
    told_as: frozenset[str] = frozenset()  # the conditions as which the part may have told it itself

    @property
    def is_server(self) -> bool:
        return not self.causes


_QUEUE_TEXTS = {
    "telegram": TELEGRAM_QUEUE_SILENT,
    "bluesky": BLUESKY_QUEUE_SILENT,
    "default": DEFAULT_QUEUE_SILENT,
}
# Every cause stands before what follows from it.
RULES = (
    Rule("database", 60, DATABASE_AWAY),
    Rule("valkey", 60, VALKEY_AWAY),
    # It gives a sign each 10 s, unless it waits for Valkey.
    Rule("beat", 90, BEAT_SILENT, causes=("database", "valkey")),
    # An idle one is proven each minute, a full one by each slice that ends: after 30 s.
    *(Rule(f"queue:{queue}", 130, _QUEUE_TEXTS[queue], causes=("beat",)) for queue in settings.WATCHED_QUEUES),
    Rule("task:delivery.plan_todays_broadcast", 150, PLAN_SILENT, causes=("queue:default",)),
    Rule("task:delivery.sweep", 150, SWEEP_SILENT, causes=("queue:default",)),
    Rule("task:watch.look", 150, LOOK_SILENT, causes=("queue:default",)),
    # It gives a sign each 10 s. The limit is longer than a break in its watcher's looks: when a frozen database thaws,
    # the first look may come before the bot's next sign, and then it finds a break and judges nothing.
    Rule("bot", 90, BOT_SILENT, causes=("database",)),
    # It gives a sign each 15 s.
    Rule("web", 90, WEB_SILENT, causes=("database",)),
    # A fetch lasts 30 s. The bot tells of it itself within two minutes; this is for a bot that does not.
    Rule("polling", 75, BOT_DEAF, causes=("bot",), told_after=240, told_as=frozenset(trouble.ALERTS)),
    Rule("deliveries", 600, DELIVERIES_STUCK, causes=("queue:telegram", "queue:default")),
    Rule("morning", 900, MORNING_MISSING, causes=("task:delivery.plan_todays_broadcast",)),
)
# What the watch task tells; the bot tells the rest, and the task that too while the bot is silent.
OF_THE_TASK = frozenset({"bot", "polling", "deliveries", "morning"})
