"""What goes on by itself each minute."""

from tests.end_to_end.installation import Installation, Process


def wait_for_sweeps(installation: Installation, worker: Process) -> None:
    """Until it was looked at twice more what there is to send."""
    begun = worker.written().count("delivery.sweep")
    installation.wait_until(lambda: worker.written().count("delivery.sweep") >= begun + 4, what="sweeps")
