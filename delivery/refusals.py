"""What is not done, and why: the texts are for people, who must know what to do instead."""

from posts.showing import NothingToShow


class CannotPlan(Exception):
    """Why the day's broadcast is not planned."""


class AlreadyPlanned(CannotPlan):
    """The day has its broadcast: there is never a second one."""


class NotDue(CannotPlan):
    """Sending is switched off, or its hour has not come, or went by."""


class NotApproved(CannotPlan):
    """Only what a person approved goes out."""


class NotSendable(CannotPlan):
    """What was approved was changed since, and Telegram would not take it."""


class NothingSendable(NothingToShow):
    """What was approved for the day was all changed since, and Telegram would not take it."""


class Locked(CannotPlan):
    """This database, or this installation, may not be the only one that sends."""


class CannotChange(Exception):
    """Why the broadcast stays as it is."""
