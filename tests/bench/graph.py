"""The rate over time, as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure


def draw(rates: Mapping[str, Sequence[int]], *, to: Path) -> None:
    """One panel for each row; `rates` are the messages in each tenth of a second."""
    figure = Figure(figsize=(9, 2.4 * len(rates)), layout="constrained")
    panels = figure.subplots(len(rates), squeeze=False)[:, 0]
    for panel, (row, tenths) in zip(panels, rates.items(), strict=True):
        panel.step([place / 10 for place in range(len(tenths))], [10 * count for count in tenths], linewidth=0.8)
        panel.set(title=row, xlabel="seconds", ylabel="messages/s", ylim=(0, None))
        panel.grid(alpha=0.3)
    figure.savefig(to, dpi=120, format="png")
