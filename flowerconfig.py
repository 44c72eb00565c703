"""Flower, the operator's view of Celery: on this machine only, behind a password, looking without touching.

Its defaults are open to everybody, buttons that stop workers included; /metrics and /healthcheck stay without a
password whatever is set here.
"""

import os
import sys

from donate1024.log_format import redact_uncaught
from donate1024.stack import environment

redact_uncaught()
environment.load(os.environ)
user, _, password = os.environ.get("FLOWER_BASIC_AUTH", "").partition(":")
if not user or not password:
    sys.exit("FLOWER_BASIC_AUTH: expects user:password; Flower does not start without it")

address = "127.0.0.1"
port = int(os.environ.get("FLOWER_PORT", environment.PORTS["FLOWER_PORT"]))
basic_auth = [f"{user}:{password}"]
read_only = True
