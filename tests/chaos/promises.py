"""The promises, held against the sandbox's ledger; our own rows only say what the system openly admits."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from math import inf

from tests.chaos.journal import Json, Post, Standing, Story, post_of

ENDED_EARLY = {"paused", "cancelled", "expired", "skipped"}


@dataclass(frozen=True, slots=True)
class Row:
    """A delivery as the system tells of it."""

    chat_id: int
    status: str
    reason: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken promise, and the chats that show it."""

    sentence: str
    chats: tuple[int, ...] = ()


@dataclass
class Facts:
    """What the judge must know of a day besides the ledger; by the sandbox's clock, where nothing else is said."""

    date: date
    send_at: float
    latest_start: float
    quiet: float
    midnight: float
    ends: float  # one of these two: midnight where a person started or resumed it
    patience: float = 2.0  # real seconds that a call begun in time may take: the delays and freezes of the day
    is_by_hand: bool = False
    may_end_early: bool = False  # by the plan it may be cancelled, skipped, missed, or left paused
    may_be_refused: set[int] = field(default_factory=set)
    seen_at: float = 0.0  # when the judge looked
    silent_from: float = inf  # nothing may go out any more: a backup was restored, and nobody confirmed it
    unknown_most: int = 0  # calls in flight at the kills, and answers lost by faults


@dataclass
class Case:
    """One day before its judge."""

    facts: Facts
    before: Story  # everybody's standing when the day began
    events: Sequence[Json]  # the day's
    rows: Sequence[Row]
    books: Json | None
    real: Callable[[float], float]  # the moment of the machine's clock at which the sandbox's clock showed this one

    @cached_property
    def after(self) -> Story:
        story = self.before.copy()
        for event in self.events:
            story.take(event)
        return story

    @cached_property
    def posts(self) -> list[Post]:
        return [post for event in self.events if (post := post_of(event))]

    @cached_property
    def unknown(self) -> set[int]:
        return {row.chat_id for row in self.rows if row.status == "unknown"}

    def has_acted(self, chat: int) -> bool:
        """Whether the chat did anything in this day, such as leaving or coming back."""
        return self.before.standings.get(chat, Standing()).acts != self.after.of(chat).acts


def broken_promises(case: Case) -> list[Broken]:
    """Every promise that this day broke; none for a good day."""
    checks: list[Callable[[Case], Iterator[Broken]]] = [
        _twice,
        _several_fundraisers,
        _stopped,
        _forgotten,
        _uninvited,
        _after_goodbye,
        _early_or_late,
        _at_night,
        _before_confirmed,
        _unexplained,
        _wrong_books,
        _wrong_rows,
    ]
    return [broken for check in checks for broken in check(case)]


def _twice(case: Case) -> Iterator[Broken]:
    counts = Counter(case.after.now_called(post.chat_id) for post in case.posts)
    if chats := tuple(chat for chat, count in counts.items() if count > 1):
        yield Broken("somebody got the day's post twice", chats)


def _several_fundraisers(case: Case) -> Iterator[Broken]:
    contents = {post.content for post in case.posts}
    if len(contents) > 1:
        yield Broken(f"{len(contents)} different messages went out on one day")


def _stopped(case: Case) -> Iterator[Broken]:
    """A broadcast that goes to nobody any more says why, and does so only where the plan has a cause for it."""
    if not case.books or case.books["status"] == "finished":
        return
    if case.books["status"] not in ENDED_EARLY:
        yield Broken(f"the broadcast did not come to its end: {case.books['status']}")
    elif not case.books["reason"]:
        yield Broken(f"the broadcast is {case.books['status']} without a reason")
    elif not case.facts.may_end_early:
        yield Broken(f"the broadcast is {case.books['status']}, though nothing in the plan stopped it")


def _forgotten(case: Case) -> Iterator[Broken]:
    """Whoever could be reached and wanted it got it, or the system says unknown, or openly stopped for everybody."""
    if case.facts.may_end_early and (not case.books or case.books["status"] in ENDED_EARLY):
        return
    served = {case.after.now_called(post.chat_id) for post in case.posts}
    excused = served | case.unknown | case.facts.may_be_refused
    forgotten = [
        chat
        for chat, standing in case.after.standings.items()
        if standing.is_subscribed
        and chat not in excused
        and not (case.facts.seen_at > case.facts.quiet and case.has_acted(chat))  # newcomers wait for the morning
    ]
    if forgotten:
        yield Broken("somebody was forgotten: subscribed, reachable, not served, not unknown", tuple(forgotten))


def _uninvited(case: Case) -> Iterator[Broken]:
    uninvited = [
        post.chat_id
        for post in case.posts
        if not case.before.of(post.chat_id).is_subscribed and not case.has_acted(post.chat_id)
    ]
    if uninvited:
        yield Broken("somebody got a post who had left before the morning", tuple(uninvited))


def _after_goodbye(case: Case) -> Iterator[Broken]:
    story = case.before.copy()
    for event in case.events:
        post = post_of(event)
        if post and (told_at := story.of(post.chat_id).told_goodbye_at) is not None:
            waited = case.real(post.at) - case.real(told_at)
            if waited > case.facts.patience:
                yield Broken(f"somebody got a post {waited:.1f} s after their /stop was answered", (post.chat_id,))
        story.take(event)


def _early_or_late(case: Case) -> Iterator[Broken]:
    facts = case.facts
    if early := tuple(post.chat_id for post in case.posts if post.at < facts.send_at):
        yield Broken("somebody got a post before its hour", early)
    if case.posts and not facts.is_by_hand and case.posts[0].at > facts.latest_start:
        yield Broken("the broadcast began after its latest start, and no person said so", (case.posts[0].chat_id,))


def _at_night(case: Case) -> Iterator[Broken]:
    facts = case.facts
    nightly = [post for post in case.posts if post.at > facts.ends]
    late = [post for post in nightly if case.real(post.at) > case.real(facts.ends) + facts.patience]
    if late:
        yield Broken("somebody got a post in the night, and no person said so", tuple(post.chat_id for post in late))


def _before_confirmed(case: Case) -> Iterator[Broken]:
    limit = case.real(case.facts.silent_from) + case.facts.patience
    if rash := tuple(post.chat_id for post in case.posts if case.real(post.at) > limit):
        yield Broken("somebody got a post from a restored backup, and no person had confirmed it", rash)


def _unexplained(case: Case) -> Iterator[Broken]:
    if len(case.unknown) > case.facts.unknown_most:
        sentence = f"{len(case.unknown)} are unknown; the faults explain at most {case.facts.unknown_most}"
        yield Broken(sentence, tuple(case.unknown))
    failed = {row.chat_id for row in case.rows if row.status == "failed"}
    if failed - case.facts.may_be_refused:
        yield Broken("a row says failed, and Telegram refused no such chat", tuple(failed - case.facts.may_be_refused))


def _wrong_books(case: Case) -> Iterator[Broken]:
    if case.books is None:
        if case.posts:
            yield Broken("posts went out, and there are no books")
        return
    counts = {status: count for status, count in case.books["counts"].items() if count}
    told = Counter(row.status for row in case.rows)
    if case.books["recipients"] != sum(counts.values()):
        yield Broken("the books do not balance")
    if counts != dict(told):
        yield Broken(f"the books say {counts}, the rows {dict(told)}")
    if case.books["status"] == "finished" and {"pending", "sending"} & counts.keys():
        yield Broken(f"the broadcast says finished, and the books {counts}")


def _wrong_rows(case: Case) -> Iterator[Broken]:
    """The rows tell of exactly the messages that the ledger has."""
    accepted = {str(post.message_id): case.after.now_called(post.chat_id) for post in case.posts}
    sent = {row.message_id: row.chat_id for row in case.rows if row.status == "sent"}
    if invented := sent.keys() - accepted.keys():
        yield Broken("a row says sent, and the ledger has no such message", tuple(sent[it] for it in invented))
    silent = {accepted[it] for it in accepted.keys() - sent.keys()} - case.unknown
    if silent and case.facts.silent_from == inf:  # a backup cannot know of what went out after it
        yield Broken("the ledger has a message whose row says neither sent nor unknown", tuple(silent))
