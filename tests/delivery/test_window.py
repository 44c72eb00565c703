import pytest

from delivery.window import Window


def after(window: Window, *latencies: float) -> int:
    for latency in latencies:
        window.observe(latency)
    return window.cap


@pytest.mark.parametrize(
    ("per_second", "slices", "cap"),
    [
        (25, 2, 2),  # four over all slices, whatever the rate
        (25, 1, 4),
        (990, 1, 75),  # 990 x (0.05 + 0.01) x 1.25, rounded up
        (990, 2, 37),
        (0.1, 64, 1),  # a slice without a call in flight would never end
    ],
)
def test_a_window_begins_with_what_the_pace_needs_at_the_shortest_latency(
    per_second: float, slices: int, cap: int
) -> None:
    assert Window(per_second=per_second, slices=slices).cap == cap


@pytest.mark.parametrize(("latency", "cap"), [(0.001, 75), (0.05, 75), (0.1, 137), (0.3, 384), (30, 384)])
def test_the_window_follows_the_latency_within_bounds(latency: float, cap: int) -> None:
    window = Window(per_second=990, slices=1)

    assert after(window, *[latency] * 20) == cap
    assert window.most == 384


def test_four_slow_calls_in_a_hundred_do_not_widen_the_window_and_six_do() -> None:
    window = Window(per_second=990, slices=1)

    assert after(window, *[0.05] * 96, *[30] * 4) == 75
    assert after(window, *[0.05] * 188, *[30] * 12) == 384


def test_a_window_forgets_what_was_long_ago() -> None:
    window = Window(per_second=990, slices=1)

    assert after(window, *[0.3] * 200) == 384
    assert after(window, *[0.05] * 200) == 75


@pytest.mark.parametrize(("per_second", "slices", "permits"), [(25, 2, 1), (200, 2, 2), (990, 2, 8), (990, 1, 15)])
def test_a_turn_asks_for_half_again_as_many_permits_as_it_lasts(per_second: float, slices: int, permits: int) -> None:
    assert Window(per_second=per_second, slices=slices).permits_per_turn == permits
