from collections import Counter
from datetime import date, timedelta

import pytest

from posts import showing
from posts.models import Fundraiser
from tests.factories import make_fundraiser

pytestmark = pytest.mark.django_db

DAY = date(2026, 10, 25)  # the clocks go back


def days(number: int) -> timedelta:
    return timedelta(days=number)


def live_through(length: int) -> list[showing.Choice]:
    """Choose, ask again, show: day after day."""
    choices = []
    for day in (DAY + days(number) for number in range(length)):
        choice = showing.choose(day=day)
        assert showing.choose(day=day) == choice
        Fundraiser.objects.mark_shown(choice.fundraiser.pk, on=day)
        choices.append(choice)
    return choices


def gaps(shown: list[int]) -> set[int]:
    """After how many days each showing was followed by the next one of the same fundraiser."""
    return {shown.index(pk, place + 1) - place for place, pk in enumerate(shown) if pk in shown[place + 1 :]}


def test_nine_fundraisers_take_turns_for_sixty_days() -> None:
    for _ in range(9):
        make_fundraiser()
    never = make_fundraiser(status=Fundraiser.Status.PAUSED)

    choices = live_through(60)

    shown = [choice.fundraiser.pk for choice in choices]
    assert never.pk not in shown
    assert set(Counter(shown).values()) == {6, 7}
    assert min(gaps(shown)) >= showing.COOLDOWN_DAYS
    assert not any(choice.is_shortened for choice in choices)


def test_three_fundraisers_take_turns_with_a_shorter_cooldown() -> None:
    for _ in range(3):
        make_fundraiser()

    choices = live_through(60)

    shown = [choice.fundraiser.pk for choice in choices]
    assert set(Counter(shown).values()) == {20}
    assert gaps(shown) == {3}
    assert [choice.cooldown_days for choice in choices] == [7, 7, 7] + [3] * 57


def test_a_newcomer_is_shown_next_and_then_waits_like_the_others() -> None:
    for _ in range(9):
        make_fundraiser(times_shown=5, last_shown_on=DAY - days(30))
    newcomer = make_fundraiser()

    shown = [choice.fundraiser.pk for choice in live_through(30)]

    places = [place for place, pk in enumerate(shown) if pk == newcomer.pk]
    assert places == [0, 7, 14, 21, 28]  # fewest shown goes first, yet only after its cool-down


def test_sixty_days_with_pins_and_windows() -> None:
    pinned = make_fundraiser(pinned_to=DAY + days(10))
    windowed = make_fundraiser(starts_on=DAY + days(20), ends_on=DAY + days(29))
    for _ in range(7):
        make_fundraiser()

    shown = [choice.fundraiser.pk for choice in live_through(60)]

    assert shown[10] == pinned.pk
    assert pinned.pk not in shown[4:10] + shown[11:17]
    assert {place for place, pk in enumerate(shown) if pk == windowed.pk} <= set(range(20, 30))
    assert windowed.pk in shown
    assert 1 not in gaps(shown)


def test_one_fundraiser_is_never_shown_two_days_running() -> None:
    fundraiser = make_fundraiser(times_shown=1, last_shown_on=DAY - days(1))

    with pytest.raises(showing.NothingToShow):
        showing.choose(day=DAY)
    assert showing.choose(day=DAY + days(1)) == showing.Choice(fundraiser, cooldown_days=2)


def test_what_was_shown_today_is_not_chosen_again_today() -> None:
    make_fundraiser(times_shown=1, last_shown_on=DAY)

    with pytest.raises(showing.NothingToShow):
        showing.choose(day=DAY)


@pytest.mark.parametrize("status", [status for status in Fundraiser.Status if status != Fundraiser.Status.APPROVED])
def test_only_approved_ones_are_shown(status: Fundraiser.Status) -> None:
    make_fundraiser(status=status)

    with pytest.raises(showing.NothingToShow):
        showing.choose(day=DAY)


def test_first_and_last_day_are_days_of_showing() -> None:
    make_fundraiser(starts_on=DAY, ends_on=DAY)

    showing.choose(day=DAY)
    for outside in (DAY - days(1), DAY + days(1)):
        with pytest.raises(showing.NothingToShow):
            showing.choose(day=outside)


def test_the_order_is_pin_count_last_day_priority() -> None:
    last = make_fundraiser(times_shown=2, last_shown_on=DAY - days(20), priority=9)
    later = make_fundraiser(times_shown=1, last_shown_on=DAY - days(8), priority=9)
    earlier = make_fundraiser(times_shown=1, last_shown_on=DAY - days(9))
    never = make_fundraiser()
    urgent = make_fundraiser(priority=1)
    pinned = make_fundraiser(times_shown=3, last_shown_on=DAY - days(30), pinned_to=DAY)

    order = []
    for _ in range(6):
        fundraiser = showing.choose(day=DAY).fundraiser
        order.append(fundraiser)
        fundraiser.pause()

    assert order == [pinned, urgent, never, earlier, later, last]


def test_equal_ones_come_in_another_order_on_another_day() -> None:
    for _ in range(5):
        make_fundraiser()

    firsts = {showing.choose(day=DAY + days(number)).fundraiser.pk for number in range(20)}

    assert len(firsts) > 1


def test_a_pin_goes_before_the_cooldown() -> None:
    make_fundraiser()
    pinned = make_fundraiser(pinned_to=DAY, times_shown=1, last_shown_on=DAY - days(2))

    choice = showing.choose(day=DAY)

    assert choice == showing.Choice(pinned, showing.COOLDOWN_DAYS)


def test_a_pin_does_not_repeat_yesterdays_fundraiser() -> None:
    other = make_fundraiser()
    make_fundraiser(pinned_to=DAY, times_shown=1, last_shown_on=DAY - days(1))

    assert showing.choose(day=DAY).fundraiser == other


def test_a_fundraiser_is_kept_for_the_day_it_is_pinned_to() -> None:
    pinned = make_fundraiser(pinned_to=DAY + days(6))
    worn = make_fundraiser(times_shown=9, last_shown_on=DAY - days(7))

    assert showing.choose(day=DAY).fundraiser == worn
    worn.pause()
    assert showing.choose(day=DAY) == showing.Choice(pinned, cooldown_days=6)  # rather than nothing at all


def test_one_pinned_to_tomorrow_is_not_shown_today() -> None:
    make_fundraiser(pinned_to=DAY + days(1))

    with pytest.raises(showing.NothingToShow):
        showing.choose(day=DAY)


def test_shown_on_is_what_went_out_that_day() -> None:
    make_fundraiser(times_shown=1, last_shown_on=DAY - days(1))
    todays = make_fundraiser(times_shown=1, last_shown_on=DAY)

    assert showing.shown_on(DAY) == todays
    assert showing.shown_on(DAY + days(1)) is None


def test_a_second_mark_for_the_same_day_counts_nothing() -> None:
    fundraiser = make_fundraiser()

    Fundraiser.objects.mark_shown(fundraiser.pk, on=DAY)
    Fundraiser.objects.mark_shown(fundraiser.pk, on=DAY)

    fundraiser.refresh_from_db()
    assert (fundraiser.times_shown, fundraiser.last_shown_on) == (1, DAY)
