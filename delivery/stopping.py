"""Whether this worker was told to stop: set in the parent process, seen by every child."""

from ctypes import c_bool
from multiprocessing.sharedctypes import RawValue

# Made before the fork, so shared. Without a lock: a child killed while it held one would hang the parent's stop.
_flag = RawValue(c_bool, False)


def request_stop(**_signal: object) -> None:
    _flag.value = True


def is_requested() -> bool:
    return bool(_flag.value)
