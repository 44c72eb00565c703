"""What a curator does in the middle of it all, and what was started twice by mistake."""

from collections.abc import Callable

from tests.chaos.drawing import Act
from tests.chaos.scene import Scene

EDIT = """
from posts import clock
from posts.models import Fundraiser
for fundraiser in Fundraiser.objects.all():
    fundraiser.text = f"{fundraiser.text.partition(' Правка')[0]} Правка {clock.now():%H%M%S}."
    fundraiser.save()
"""
DOUBLE = """
from celery import current_app
from delivery.models import Broadcast
from delivery.slices import enqueue_slices
for _ in range(3):
    current_app.send_task("delivery.plan_todays_broadcast", expires=60)
    current_app.send_task("delivery.sweep", expires=60)
    for broadcast in Broadcast.objects.order_by("-date")[:2]:
        enqueue_slices(broadcast.pk)
"""


def type_in(*arguments: str) -> Callable[[Scene, Act], None]:
    """A command that nobody waits for; it may be refused."""

    def act(scene: Scene, _: Act) -> None:
        scene.extras.append(scene.there.manage(*arguments))

    return act


def start_twice(scene: Scene, act: Act) -> None:
    """At once, on a day that has its broadcast: both are refused."""
    for _ in range(2):
        type_in("broadcast", "start", "--now")(scene, act)


def cancel(scene: Scene, act: Act) -> None:
    scene.facts.may_end_early = True
    type_in("broadcast", "cancel")(scene, act)


def second_beat(scene: Scene, _: Act) -> None:
    scene.extras.append(scene.there.run("beat", "-m", "celery", "-A", "donate1024", "beat", "--pidfile="))


ACTS: dict[str, Callable[[Scene, Act], None]] = {
    "pause": type_in("broadcast", "pause"),
    "edit the fundraiser": type_in("shell", "-c", EDIT),
    "start twice": start_twice,
    "double the tasks": type_in("shell", "-c", DOUBLE),
    "second beat": second_beat,
    "second bot": type_in("run_bot"),
    "cancel": cancel,
}
