"""The watch task's part: it tells when the bot is silent or the day stands still, and pings the outside monitor."""

from donate1024.alerts import folding
from donate1024.alerts.models import Alert
from donate1024.watch import outside_monitor
from donate1024.watch.heartbeats import Sign
from donate1024.watch.judging import Finding, Look, judge
from donate1024.watch.looking import Seen, look
from donate1024.watch.models import Heartbeat
from donate1024.watch.rules import OF_THE_TASK
from donate1024.watch.telling import Telling
from posts import clock
from posts.event_loop import run_without_waiting

NAME = "watch"  # of its own heartbeat, which remembers what the next look needs: that is another process'


def look_around() -> None:
    """Look once, tell what changed and what is due of others, and let the outside monitor know all that is wrong."""
    folding.tell_due()
    hearing = outside_monitor.Hearing()
    with outside_monitor.watched(hearing) as faults:
        seen = run_without_waiting(look(Sign(NAME)))
        faults += [f"{server}: {trouble}" for server, trouble in seen.troubles.items()]
        if "database" in seen.troubles:
            return
        findings = judge(_as_look(seen))
        known = seen.details[NAME]
        hearing.misses = known.get("misses")
        told = _tell(findings, told=known.get("told", {}))
        Alert.objects.prune(at=clock.now())
        causes = [found for found in findings if found.is_red and not found.is_consequence]
        faults += [found.rule.text % found.minutes for found in causes if found.rule.part not in seen.troubles]
    detail = {**known, "told": told, "misses": hearing.misses}
    Heartbeat.objects.filter(name=NAME).update(detail=detail)


def _as_look(seen: Seen) -> Look:
    watched_for = seen.unbroken[NAME]
    return Look(seen.ages, awake_for=watched_for, watched_for=watched_for, unbroken=seen.unbroken)


def _tell(findings: list[Finding], *, told: dict[str, bool]) -> dict[str, bool]:
    """The rest is told by the bot; where that is silent, by the task as well, which then tells the end of it too."""
    is_bot_silent = any(found.rule.part == "bot" and found.is_telling for found in findings)
    known = set(Alert.objects.open().values_list("key", flat=True))
    mine = [
        found
        for found in findings
        if told.get(found.rule.part)
        or ((is_bot_silent or found.rule.part in OF_THE_TASK) and found.rule.told_as.isdisjoint(known))
    ]
    telling = Telling({found.rule.part: told[found.rule.part] for found in mine if found.rule.part in told})
    telling.hear(mine)
    return telling.told
