"""The one screen at the end of `make run`'s start."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from shlex import quote
from textwrap import fill

from rich.markup import escape
from rich.table import Table

from donate1024.stack.environment import ROOT
from donate1024.stack.links import Links
from donate1024.stack.state import Place
from donate1024.stack.terminal import Terminal

# Fits 24 rows of 80 characters. Each link is alone on its line: what a terminal breaks is not copied whole.
WIDTH = 80
ROLES = {
    "curator": "A curator's chat, told when a morning needs a person",
    "operator": "An operator's chat, told the same with the technical details",
}
UNWATCHED = (
    "[yellow]Nobody watches from outside:[/] if this machine stops, nobody is told.\n"
    "A free check at healthchecks.io gives an address for HEARTBEAT_URL= in .env."
)


def show(terminal: Terminal, place: Place, used: Mapping[str, int], links: Links, *, now: datetime) -> None:
    """Addresses and logins, where the data lies, how to stop, the one-time links, what to do next."""
    is_sandbox = "SANDBOX_PORT" in used
    what = "the sandbox" if is_sandbox else f"the real bot {links.bot}".strip()
    terminal.show(f"\n[bold]donate1024 is running[/] ({what}). Ctrl-C stops it safely.\n")
    for trouble in filter(None, (links.no_chats, links.no_password)):
        terminal.show(f"[red]{escape(fill(f'{trouble}.', WIDTH))}[/]\n")
    table = Table(box=None, show_header=False, pad_edge=True)
    for row in _rows(place, used):
        table.add_row(*row)
    terminal.show(table)
    for line in _lines(place, links, is_sandbox=is_sandbox):
        terminal.show(line)
    terminal.show(f"\n{_in_the_sandbox(now) if is_sandbox else _with_a_bot(links)}")


def _rows(place: Place, used: Mapping[str, int]) -> list[tuple[str, str, str]]:
    site = place.env.get("SITE_URL", "").rstrip("/") or f"http://127.0.0.1:{used['WEB_PORT']}"
    password = place.env.get("CURATOR_PASSWORD")
    user, _, secret = place.env["FLOWER_BASIC_AUTH"].partition(":")
    phones = [("Phones", f"http://127.0.0.1:{used['SANDBOX_PORT']}/", "")] if "SANDBOX_PORT" in used else []
    return [
        ("Today's page", f"{site}/", ""),
        ("Curator's desk", f"{site}/admin/", f"curator / {password}" if password else ""),
        *phones,
        ("Flower", f"http://127.0.0.1:{used['FLOWER_PORT']}/", f"{user} / {secret}"),
    ]


def _lines(place: Place, links: Links, *, is_sandbox: bool) -> Iterator[str]:
    state = escape(str(place.state))
    yield f"Data and logs: {state}\nSecrets, for you alone: {state}/secrets.env"
    if links.password or links.chats:
        yield from _one_time(links)
    yield f"\nIs all well? Ask beside this terminal:\n  cd {quote(str(ROOT))} && .venv/bin/python manage.py doctor"
    if not is_sandbox and not place.env.get("HEARTBEAT_URL"):
        yield UNWATCHED


def _one_time(links: Links) -> Iterator[str]:
    yield "\n[bold]One-time links[/], each good once and for a day; the next start makes new ones"
    if links.password:
        yield f" The first password for the desk\n  {links.password}"
    for role, link in links.chats.items():
        yield f" {ROLES[role]}\n  {link}"


def _in_the_sandbox(now: datetime) -> str:
    return (
        f"No message leaves this machine. The sandbox's own clock: {now:%H:%M, %Y-%m-%d}.\n"
        "Next: open the phones, press «Почати»; today's fundraiser comes within a minute.\n"
        "For your own bot: TELEGRAM_BOT_TOKEN=... (from @BotFather) in .env, `make run`."
    )


def _with_a_bot(links: Links) -> str:
    if "TELEGRAM_BOT_TOKEN" in links.no_chats:
        return "Next: mend TELEGRAM_BOT_TOKEN in .env, press Ctrl-C, and run `make run` again."
    if links.no_chats:
        return (
            "Next: mend the network. No chat can be linked before; then these make the links:\n"
            "the next start, or `.venv/bin/python manage.py link_chat`."
        )
    if links.password:
        return (
            "Next: choose your password, open a chat's link on your phone, approve a\n"
            "fundraiser, turn the daily schedule on: it is off until you do, nothing is sent."
        )
    return "Next: the desk's broadcasts say how today stands."
