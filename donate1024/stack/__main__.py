"""`python -m donate1024.stack demo|run`."""

import argparse
import sys

from donate1024.stack.children import ServerError
from donate1024.stack.demo import demo
from donate1024.stack.outside import Unreachable
from donate1024.stack.ports import PortRefused
from donate1024.stack.processes import CommandFailed
from donate1024.stack.run import run
from donate1024.stack.sandbox_control import SandboxRefused
from donate1024.stack.secrets_file import WrongState
from donate1024.stack.state import StateInUse
from donate1024.stack.terminal import Terminal

# Each says what to do; a traceback would only hide it.
EXPLAINED = (CommandFailed, PortRefused, SandboxRefused, ServerError, StateInUse, Unreachable, WrongState, OSError)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m donate1024.stack", description=__doc__)
    parser.add_argument("what", choices=["demo", "run"], help="one morning and its verdict, or everything until Ctrl-C")
    arguments = parser.parse_args()
    terminal = Terminal()
    try:
        return {"demo": demo, "run": run}[arguments.what](terminal)
    except EXPLAINED as error:
        terminal.trouble(arguments.what, str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
