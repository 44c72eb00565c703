"""The one screen at the end of `make run`'s start."""

from collections.abc import Mapping
from shlex import quote

from rich.table import Table

from donate1024.stack.environment import ROOT
from donate1024.stack.state import Place
from donate1024.stack.terminal import Terminal


def show(terminal: Terminal, place: Place, used: Mapping[str, int]) -> None:
    """Addresses, where the data lies, how to stop, what to do next."""
    is_sandbox = "SANDBOX_PORT" in used
    what = "the sandbox: no message leaves this machine" if is_sandbox else "the real bot"
    terminal.show(f"\n[bold]donate1024 is running[/] ({what}). Ctrl-C stops it; nothing is lost by that.\n")
    table = Table(box=None, show_header=False, pad_edge=True)
    for row in _rows(place, used):
        table.add_row(*row)
    terminal.show(table)
    terminal.show(f"\nBeside this terminal:\n  cd {quote(str(ROOT))} && .venv/bin/python manage.py help")
    terminal.show(f"\n{_next_step(is_sandbox=is_sandbox)}\n")


def _rows(place: Place, used: Mapping[str, int]) -> list[tuple[str, str, str]]:
    site = f"http://127.0.0.1:{used['WEB_PORT']}"
    password = place.env.get("CURATOR_PASSWORD")
    curator = f"curator / {password}" if password else ".venv/bin/python manage.py createsuperuser makes a login"
    user, _, secret = place.env["FLOWER_BASIC_AUTH"].partition(":")
    phones = [("Phones", f"http://127.0.0.1:{used['SANDBOX_PORT']}/", "")] if "SANDBOX_PORT" in used else []
    return [
        ("Today's page", f"{site}/", ""),
        ("Curator's desk", f"{site}/admin/", curator),
        *phones,
        ("Flower", f"http://127.0.0.1:{used['FLOWER_PORT']}/", f"{user} / {secret}"),
        ("Data and logs", str(place.state), ""),
    ]


def _next_step(*, is_sandbox: bool) -> str:
    if is_sandbox:
        return (
            "Next: open the phones and press /start; today's fundraiser comes within a minute.\n"
            "For your own bot: put TELEGRAM_BOT_TOKEN=... (from @BotFather) into .env and run `make run` again."
        )
    return "Next: log in to the desk, approve a fundraiser, and turn the daily schedule on."
