"""The settings of the processes under the bench, where the rate may exceed the highest that Telegram knows of."""

import os

rate = float(os.environ.pop("TELEGRAM_MESSAGES_PER_SECOND", "25"))

from donate1024.settings import *  # noqa: E402, F403 -- the setting's own limit would refuse the rate

TELEGRAM_MESSAGES_PER_SECOND = rate
os.environ["TELEGRAM_MESSAGES_PER_SECOND"] = str(rate)  # for the processes that this one starts
