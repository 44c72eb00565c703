"""How PostgreSQL is started by those whom it refuses: root, and users without a name."""

import ctypes
import os
import pwd
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from donate1024.stack.children import LINUX, ServerError, libc, nothing

CLONE_NEWUSER = 0x10000000
NOBODY = 65534


@dataclass(frozen=True)
class Account:
    """Whom a server runs as: `prefix` stands before its command, `prepare` runs in the child before that."""

    prefix: tuple[str, ...] = ()
    prepare: Callable[[], None] = nothing
    owner: int | None = None

    def own(self, directory: Path) -> None:
        """Create the directory, closed to everybody else."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.owner is not None:
            os.chown(directory, self.owner, -1)


def account() -> Account:
    """The best way there is on this machine.

    Raises:
        ServerError: if there is none.
    """
    if os.geteuid() != 0 and _has_a_name(os.geteuid()):
        return Account()
    if LINUX and _works(enter_user_namespace):
        return Account(prepare=enter_user_namespace)
    return nobody()


def enter_user_namespace() -> None:
    """Look like `nobody` from inside; outside every file still belongs to us. Containers often forbid it."""
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")


def nobody() -> Account:
    """Become `nobody`, but keep root's way through closed directories: the project may lie in a 0700 home."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        raise ServerError("PostgreSQL starts neither for root nor for a user without a name: start as another user")
    user = pwd.getpwnam("nobody")
    passing = "-all,+dac_override"
    return Account(
        prefix=(
            setpriv,
            f"--reuid={user.pw_uid}",
            f"--regid={user.pw_gid}",
            "--clear-groups",
            f"--inh-caps={passing}",
            f"--ambient-caps={passing}",
            "--pdeathsig=INT",
        ),
        owner=user.pw_uid,
    )


def _has_a_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _works(prepare: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            prepare()
            os._exit(0)
        except BaseException:  # noqa: BLE001  the copy of this process must end here, whatever happened
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
