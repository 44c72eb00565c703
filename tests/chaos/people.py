"""What people do: they come, leave, block, come back; some of it is impossible at the moment, and then left undone."""

from tests.chaos.drawing import FIRST_GROUP, FIRST_SUPERGROUP, Act
from tests.chaos.installation import SandboxSaysNo
from tests.chaos.journal import Json
from tests.chaos.scene import Scene

Step = tuple[str, Json | list[Json]]


def steps(act: Act) -> list[Step]:
    """What the sandbox is asked, one after another."""
    chat = act.chat
    start: Step = ("say", {"chat_id": chat, "text": "/start"})
    stop: Step = ("say", {"chat_id": chat, "text": "/stop"})
    block, unblock = ("block", {"chat_id": chat}), ("unblock", {"chat_id": chat})
    new = _become(chat, state="new", first_name="Оля <3")
    supergroup = FIRST_SUPERGROUP - (FIRST_GROUP - chat)
    born = _become(supergroup, type="supergroup", first_name="Супергрупа")
    done: dict[str, list[Step]] = {
        "stop": [stop],
        "start": [start],
        "block": [block],
        "unblock": [unblock],
        "stop and start": [stop, start],
        "block and unblock": [block, unblock],
        "newcomer": [new, start],
        "newcomer stops": [new, start, stop],
        "deactivate": [_become(chat, state="deactivated")],
        "vanish": [_become(chat, state="absent")],
        "come back": [unblock, _become(chat, state="open"), start],
        "migrate": [born, _become(chat, migrated_to=supergroup)],
    }
    return done[act.name]


def _become(chat: int, **facts: object) -> Step:
    return "chats", [{"chat_id": chat, **facts}]


def act_out(scene: Scene, act: Act) -> None:
    for path, body in steps(act):
        try:
            scene.there.ask("POST", path, body)
        except SandboxSaysNo:
            scene.troubles.append(f"chat {act.chat} cannot {path}")
