"""The one screen at the end of `make run`'s start."""

from collections.abc import Iterator, Mapping
from shlex import quote

from rich.markup import escape
from rich.table import Table

from donate1024.stack.environment import ROOT
from donate1024.stack.links import Links
from donate1024.stack.state import Place
from donate1024.stack.terminal import Terminal

# Lines of 80 characters, each link alone on its own: what a terminal breaks is not copied whole.
ROLES = {
    "curator": "A curator's chat, told when a morning needs a person",
    "operator": "An operator's chat, told the same with the technical details",
}
UNWATCHED = (
    "[yellow]Nobody watches from outside:[/] if this machine stops, nobody is told.\n"
    "A free check at healthchecks.io gives an address for HEARTBEAT_URL= in .env."
)


def show(terminal: Terminal, place: Place, used: Mapping[str, int], links: Links) -> None:
    """Addresses and logins, where the data lies, how to stop, the one-time links, what to do next."""
    is_sandbox = "SANDBOX_PORT" in used
    what = "the sandbox: no message leaves this machine" if is_sandbox else f"the real bot {links.bot}".strip()
    terminal.show(f"\n[bold]donate1024 is running[/] ({what}). Ctrl-C stops it; nothing is lost by that.\n")
    for trouble in links.troubles:
        terminal.show(f"[red]{escape(trouble)}.[/]\n")
    table = Table(box=None, show_header=False, pad_edge=True)
    for row in _rows(place, used):
        table.add_row(*row)
    terminal.show(table)
    for paragraph in _paragraphs(place, links, is_sandbox=is_sandbox):
        terminal.show(f"\n{paragraph}")
    terminal.show("")


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


def _paragraphs(place: Place, links: Links, *, is_sandbox: bool) -> Iterator[str]:
    state = escape(str(place.state))
    yield f"Data and logs: {state}\nGenerated secrets: {state}/secrets.env (only you can read it)"
    if links.password or links.chats:
        yield "\n".join(_one_time(links))
    yield f"Beside this terminal:\n  cd {quote(str(ROOT))} && .venv/bin/python manage.py help"
    if not is_sandbox and not place.env.get("HEARTBEAT_URL"):
        yield UNWATCHED
    yield _next_step(links, is_sandbox=is_sandbox)


def _one_time(links: Links) -> Iterator[str]:
    yield "[bold]One-time links[/], each good once and for a day; the next start makes new ones"
    if links.password:
        yield f" The first password for the desk\n  {links.password}"
    for role, link in links.chats.items():
        yield f" {ROLES[role]}\n  {link}"


def _next_step(links: Links, *, is_sandbox: bool) -> str:
    if is_sandbox:
        return (
            "Next: open the phones and press /start; today's fundraiser comes within a minute.\n"
            "For your own bot: put TELEGRAM_BOT_TOKEN=... (from @BotFather) into .env, and run\n"
            "`make run` again."
        )
    if links.password:
        return (
            "Next: choose your password, open a chat's link on your phone, approve a\n"
            "fundraiser, and turn the daily schedule on. It is off until you do: nothing is\n"
            "sent before."
        )
    return "Next: the desk's broadcasts say how today stands."
