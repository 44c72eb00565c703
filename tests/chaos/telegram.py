"""What goes wrong with Telegram: the sandbox is asked to refuse, to drop, to hang."""

from tests.chaos.drawing import EVERYBODY_GONE, Act
from tests.chaos.installation import SandboxSaysNo
from tests.chaos.scene import Scene

# Of these nobody can know whether the message went out.
LOSES_ANSWERS = {"drop", "accept and drop", "hang", "bad gateway"}
HAS_PICTURE = "SELECT picture_id IS NOT NULL FROM delivery_broadcast WHERE date = %s"


REFUSALS = {
    "bad gateway": (502, "Bad Gateway"),
    "refuse the text": (400, "Bad Request: can't parse entities: Unsupported start tag"),
    "refuse a chat": (400, "Bad Request: not enough rights to send photos to the chat"),
    "refuse the token": (401, "Unauthorized"),
    EVERYBODY_GONE: (403, "Forbidden: bot was blocked by the user"),
    "refuse the file": (400, "Bad Request: wrong file identifier/HTTP URL specified"),
}


def what(act: Act) -> object:
    """The fault in the sandbox's words."""
    match act.name:
        case "flood for all" | "flood for a group":
            return {"status": 429, "retry_after": max(1, round(act.seconds))}
        case "drop":
            return "drop"
        case "accept and drop":
            return "drop_after"
        case "hang" | "delay":
            return {act.name: act.seconds}
    status, description = REFUSALS[act.name]
    return {"status": status, "description": description}


def strike(scene: Scene, act: Act) -> None:
    """Let the next posts meet the fault; a delay meets more of them."""
    has_picture = (scene.there.rows(HAS_PICTURE, scene.facts.date) or [(True,)])[0][0]
    fault: dict[str, object] = {
        "fault": what(act),
        "times": act.times,
        "method": "sendPhoto" if has_picture else "sendMessage",
    }
    if act.name == "delay":
        fault["times"] = 10 * act.times
    if act.chat:
        fault["chat_id"] = act.chat
    if act.name == "refuse a chat":
        scene.facts.may_be_refused.add(act.chat)
    if act.name in LOSES_ANSWERS:
        scene.facts.unknown_most += act.times
    scene.tolerate(act.seconds)
    try:
        scene.there.ask("POST", "faults", [fault])
    except SandboxSaysNo as refusal:
        raise AssertionError(f"the sandbox knows no such fault: {refusal}") from refusal
