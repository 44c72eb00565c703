"""Make .venv hold what a requirements file lists: `python3 bootstrap.py requirements.txt`, for the Makefile.

Needs nothing but Python 3.11 with venv. Quick when there is nothing to do, safe when two run at once, and harmless to
interrupt: what was not finished has no stamp, and is done again from the start.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"


def main(requirements: str) -> None:
    directory = os.open(ROOT, os.O_RDONLY)
    fcntl.flock(directory, fcntl.LOCK_EX)  # until this process ends
    # A virtual environment works only with its own Python, in its own place.
    own = f"{sys.version} {VENV}"
    if not _is_stamped("venv", own):
        _say(f"Setting up .venv with Python {sys.version.split()[0]}: once, a minute or so.")
        shutil.rmtree(VENV, ignore_errors=True)
        venv.create(VENV, with_pip=True)
    content = hashlib.sha256((ROOT / requirements).read_bytes()).hexdigest()
    if not _is_stamped(requirements, content):
        _say(f"Installing {requirements}.")
        (VENV / "venv.stamp").unlink(missing_ok=True)  # a package that was half written looks like a whole one
        _install(requirements)
        _stamp(requirements, content)
        _stamp("venv", own)


def _install(requirements: str) -> None:
    """By uv, which is five times as fast; by pip where uv does not work."""
    pip = [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r"]
    uv = [str(VENV / "bin" / "uv"), "pip", "install", "-q", "--compile-bytecode", "--require-hashes", "-r"]
    environ = os.environ | {"VIRTUAL_ENV": str(VENV)}
    has_uv = subprocess.run([*pip, "requirements-uv.txt"], cwd=ROOT, check=False).returncode == 0
    if has_uv and subprocess.run([*uv, requirements], cwd=ROOT, env=environ, check=False).returncode == 0:
        return
    _say("uv does not work here; pip takes a little longer.")
    subprocess.run([*pip, requirements], cwd=ROOT, check=True)


def _is_stamped(name: str, key: str) -> bool:
    stamp = VENV / f"{name}.stamp"
    return stamp.exists() and stamp.read_text() == key


def _stamp(name: str, key: str) -> None:
    (VENV / f"{name}.stamp").write_text(key)


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  this is what it says to the person


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except (subprocess.CalledProcessError, OSError) as error:
        sys.exit(f"Setting up failed: {error}")
