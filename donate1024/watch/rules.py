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
    over: str  # how its end is told
    log: str  # by its name in STATE_DIR/logs
    causes: tuple[str, ...] = ()
    told_after: float = 0.0  # or with the limit, if that is later
    told_as: frozenset[str] = frozenset()  # the conditions as which the part may have told it itself

    needs: str = ""  # the setting without which nobody misses it

    @property
    def is_wanted(self) -> bool:
        return not self.needs or bool(getattr(settings, self.needs))

    @property
    def is_server(self) -> bool:
        return not self.causes


# Every cause stands before what follows from it.
RULES = (
    Rule("database", 60, DATABASE_AWAY, gettext_noop("The database answers again."), log="postgres"),
    Rule("valkey", 60, VALKEY_AWAY, gettext_noop("Valkey answers again."), log="valkey"),
    # It gives a sign each 10 s, unless it waits for Valkey.
    Rule(
        "beat",
        90,
        BEAT_SILENT,
        gettext_noop("The part that keeps the time works again."),
        log="beat",
        causes=("database", "valkey"),
    ),
    # An idle one is proven each minute, a full one by each slice that ends: after 30 s.
    Rule(
        "queue:telegram",
        130,
        TELEGRAM_QUEUE_SILENT,
        gettext_noop("The part that writes to subscribers works again."),
        log="telegram",
        causes=("beat",),
    ),
    Rule(
        "queue:default",
        130,
        DEFAULT_QUEUE_SILENT,
        gettext_noop("The part that plans the mornings works again."),
        log="default",
        causes=("beat",),
    ),
    # One worker has both queues: of the two, the one that matters more is told.
    Rule(
        "queue:bluesky",
        130,
        BLUESKY_QUEUE_SILENT,
        gettext_noop("The part that posts to Bluesky works again."),
        log="default",
        causes=("queue:default",),
        needs="BLUESKY_HANDLE",
    ),
    Rule(
        "task:delivery.plan_todays_broadcast",
        150,
        PLAN_SILENT,
        gettext_noop("It is looked again whether today's fundraiser is due."),
        log="default",
        causes=("queue:default",),
    ),
    Rule(
        "task:delivery.sweep",
        150,
        SWEEP_SILENT,
        gettext_noop("What broke off is put right again."),
        log="default",
        causes=("queue:default",),
    ),
    Rule(
        "task:watch.look",
        150,
        LOOK_SILENT,
        gettext_noop("The bot is looked after again."),
        log="default",
        causes=("queue:default",),
    ),
    # It gives a sign each 10 s. The limit is longer than a break in its watcher's looks: when a frozen database thaws,
    # the first look may come before the bot's next sign, and then it finds a break and judges nothing.
    Rule("bot", 90, BOT_SILENT, gettext_noop("The bot answers again."), log="bot", causes=("database",)),
    # It gives a sign each 15 s.
    Rule("web", 90, WEB_SILENT, gettext_noop("The pages and the desk open again."), log="web", causes=("database",)),
    # A fetch lasts 30 s. The bot tells of it itself within two minutes; this is for a bot that does not.
    Rule(
        "polling",
        75,
        BOT_DEAF,
        gettext_noop("The bot hears from Telegram again."),
        log="bot",
        causes=("bot",),
        told_after=240,
        told_as=frozenset(trouble.ALERTS),
    ),
    Rule(
        "deliveries",
        600,
        DELIVERIES_STUCK,
        gettext_noop("Today's fundraiser no longer stands still."),
        log="telegram",
        causes=("queue:telegram", "queue:default"),
    ),
    Rule(
        "morning",
        900,
        MORNING_MISSING,
        gettext_noop("Today's fundraiser is no longer overdue."),
        log="default",
        causes=("task:delivery.plan_todays_broadcast",),
    ),
)
# What the watch task tells; the bot tells the rest, and the task that too while the bot is silent.
OF_THE_TASK = frozenset({"bot", "polling", "deliveries", "morning"})
