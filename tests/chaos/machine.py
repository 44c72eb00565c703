"""What goes wrong with the machine: processes killed, stopped and frozen, the database and Valkey beaten."""

import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import redis

from tests.chaos.drawing import Act
from tests.chaos.family import tell
from tests.chaos.scene import Scene

OTHERS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
OLDEST_BACKEND = f"SELECT pid {OTHERS} ORDER BY backend_start LIMIT 1"
TERMINATE_ALL = f"SELECT pg_terminate_backend(pid) {OTHERS}"


def kill(role: str, scene: Scene, _: Act) -> None:
    """SIGKILL to the part's own process; a worker's children go with it, or go on until they notice."""
    with scene.losing_what_is_in_flight():
        tell(scene.pids(role)[:1], signal.SIGKILL)
        scene.there.deaths[role] = scene.there.deaths.get(role, 0) + 1


def kill_worker_child(scene: Scene, act: Act) -> None:
    with scene.losing_what_is_in_flight():
        tell(scene.pids("telegram")[1:2], signal.SIGKILL)


def terminate(role: str, scene: Scene, _: Act) -> None:
    """SIGTERM, as at a restart by hand: nothing may become unknown by it."""
    tell(scene.pids(role)[:1], signal.SIGTERM)
    scene.there.deaths[role] = scene.there.deaths.get(role, 0) + 1


def freeze(role: str, scene: Scene, act: Act) -> None:
    """SIGSTOP to the part and all below it, while the clock goes on; where it jumps, nobody waits for the answers."""
    scene.freeze(scene.pids(role), seconds=act.seconds, jump=act.jump)


def freeze_worker_child(scene: Scene, act: Act) -> None:
    scene.freeze(scene.pids("telegram")[1:2], seconds=act.seconds, jump=act.jump)


def kill_one_backend(scene: Scene, _: Act) -> None:
    """As the out-of-memory killer does: PostgreSQL then throws everybody out and recovers."""
    backends = scene.there.rows(OLDEST_BACKEND) or []
    tell([pid for (pid,) in backends], signal.SIGKILL)


def terminate_all_backends(scene: Scene, _: Act) -> None:
    scene.there.rows(TERMINATE_ALL)


def empty_valkey(scene: Scene, _: Act) -> None:
    with suppress(redis.RedisError), scene.there.valkey() as valkey:
        valkey.flushall()


def kill_everything(scene: Scene, _: Act) -> None:
    """SIGKILL to the supervisor, whose children then end as the kernel tells them; and a start by hand."""
    scene.wait_for_thaw()  # a stopped process cannot even end
    with scene.losing_what_is_in_flight():
        scene.there.kill()
    scene.there.start()


_ROLES = ("telegram", "default", "beat", "bot", "postgres", "valkey", "sandbox")
ACTS: dict[str, Callable[[Scene, Act], None]] = {
    **{f"kill {role}": partial(kill, role) for role in _ROLES},
    **{f"terminate {role}": partial(terminate, role) for role in _ROLES},
    **{f"freeze {role}": partial(freeze, role) for role in _ROLES},
    "kill worker child": kill_worker_child,
    "freeze worker child": freeze_worker_child,
    "kill one backend": kill_one_backend,
    "terminate all backends": terminate_all_backends,
    "empty valkey": empty_valkey,
    "kill everything": kill_everything,
}
