"""`python -m donate1024.sandbox --port 8081 --state DIR --rate 30`: the stand-in, until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import json
import signal
import sys
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

from aiohttp import web

from donate1024.sandbox import TOKEN
from donate1024.sandbox.clock import Clock
from donate1024.sandbox.control import Control, errors_as_json, own_pages_only
from donate1024.sandbox.flood import Flood
from donate1024.sandbox.journal import Taken
from donate1024.sandbox.server import MAX_BODY, Server
from donate1024.sandbox.world import World

_PAGE = Path(__file__).parent / "page"


def main() -> None:
    options = _options()
    try:
        asyncio.run(_run(options))
    except (Taken, OSError) as error:
        sys.exit(f"donate1024.sandbox: {error}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m donate1024.sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=8081, help="0 takes a free one; only 127.0.0.1 is served")
    parser.add_argument("--state", type=Path, required=True, help="the directory that it remembers everything in")
    parser.add_argument("--rate", type=float, default=30, help="messages in any second; 0 for any number")
    parser.add_argument("--token", action="append", default=[], help="one more bot that is known (may be repeated)")
    parser.add_argument("--zone", type=ZoneInfo, default=ZoneInfo("Europe/Kyiv"), help="where the morning is")
    parser.add_argument("--morning", type=time.fromisoformat, default=time(8), help="when it is (HH:MM)")
    return parser.parse_args()


async def _run(options: argparse.Namespace) -> None:
    clock = Clock(options.state, options.zone, options.morning)
    world = World(options.state / "sandbox", clock, Flood(options.rate or None))
    bots = {token: int(token.partition(":")[0]) for token in [TOKEN, *options.token]}
    # At once: a poll would hold it for 50 s. (To aiohttp 0 means for ever.)
    runner = web.AppRunner(_application(Server(world, bots)), access_log=None, shutdown_timeout=0.1)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port)
    await site.start()
    _, port = runner.addresses[0][:2]
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)  # noqa: T201 - the one line it says
    await stop.wait()
    await runner.cleanup()


def _application(server: Server) -> web.Application:
    async def page(_: web.Request) -> web.FileResponse:
        return web.FileResponse(_PAGE / "index.html")

    application = web.Application(client_max_size=MAX_BODY, middlewares=[own_pages_only, errors_as_json])
    application.router.add_route("*", "/bot{token}/{method}", server.handle)
    application.router.add_routes(Control(server).routes())
    application.router.add_get("/", page)
    application.router.add_static("/page/", _PAGE)
    return application


if __name__ == "__main__":
    main()
