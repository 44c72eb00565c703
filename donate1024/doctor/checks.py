"""Everything that the doctor looks at, in the order in which people read it."""

from donate1024.doctor import here, outside, running, telegram
from donate1024.doctor.examining import Chain, Check

FROZEN = "Is PostgreSQL frozen, or its host? DATABASE_URL says where it is"

CHAINS: tuple[Chain, ...] = (
    (Check("settings", here.read_settings, ""),),
    (Check("disk", here.disk, "Is STATE_DIR on a disk that is away?"),),
    (
        Check("database", here.database, FROZEN),
        Check("clocks", here.database_clock, FROZEN),
        Check("processes", running.processes, FROZEN),
        Check("schedule", running.schedule, FROZEN),
        Check("sending lock", running.sending_lock, FROZEN),
        Check("other pollers", running.polling, FROZEN),
    ),
    (Check("Redis", here.valkey, "Is it frozen, or its host? REDIS_URL says where it is"),),
    (Check("time zone", here.local_time, "Look at the network"),),
    (
        Check("bot", telegram.bot, "Telegram is out of reach. Look at the network, and at HTTPS_PROXY if you set it"),
        Check("admin chats", telegram.chats, "Telegram is out of reach, or the database frozen"),
        Check("bot's ears", running.hearing, FROZEN),
    ),
    (Check("second route", outside.second_route, "Look at the network, and at EMAIL_URL"),),
    (Check("outside monitor", outside.monitor, "Look at the network, and at HEARTBEAT_URL"),),
    (Check("Bluesky", outside.bluesky, "Look at the network, and at BLUESKY_URL"),),
    (Check("Gemini", outside.gemini, "Look at the network, and at GEMINI_API_URL"),),
)
