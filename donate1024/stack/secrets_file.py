"""The secrets that nobody has to think of: generated once, kept in the state directory for every process."""

import secrets
from pathlib import Path

from dotenv import dotenv_values

from donate1024.stack.state import write_privately


class WrongState(RuntimeError):
    """The state directory belongs to the other world: the sandbox and a real bot never meet."""


def keep_secrets(state: Path, *, sandbox_port: int | None) -> None:
    """Complete `secrets.env`, from which every process and `manage.py` beside them take what is not set otherwise.

    `sandbox_port` is None for a real bot.

    Raises:
        WrongState: if the directory was begun by the sandbox and is now to serve a real bot, or the reverse.
    """
    file = state / "secrets.env"
    kept = {name: value for name, value in dotenv_values(file).items() if value}
    world = "0" if sandbox_port is None else "1"
    if kept.get("DONATE1024_SANDBOX", world) != world:
        begun_by = "a real bot" if sandbox_port else "the sandbox"
        raise WrongState(f"STATE_DIR: {state} belongs to {begun_by}; choose another directory")
    values = {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "FLOWER_BASIC_AUTH": f"operator:{secrets.token_urlsafe(12)}",
        **kept,
        "DONATE1024_SANDBOX": world,
    }
    if sandbox_port is not None:
        values.setdefault("CURATOR_PASSWORD", secrets.token_urlsafe(9))
        values["TELEGRAM_API_URL"] = f"http://127.0.0.1:{sandbox_port}"
    write_privately(file, "".join(f"{name}={value}\n" for name, value in values.items()))
