"""Shows by counting that two kinds of calls can't have taken turns, as a lock's have to.

In a window of time an order has at most one call more of a kind than of the other. Hence no order
exists if the calls of one kind that lie wholly within some disjoint windows outnumber the calls of
the other kind that overlap any window, plus one for each window. (A call that overlaps two windows
takes effect in at most one of the two. A window at the beginning of the history is granted the
extra call only if the kind is legal there.) This condition is also sufficient. Let A(t) and B(t) be
how many of each kind took effect by t. Some order exists exactly if there are integers with A(t) -
A(s) at least what lies wholly between s and t, the same of B, A(t) - B(t) either 0 or 1, and in the
end all of them (calls that may as well never happen then come last): the calls are matched to
moments, and Hall's condition for intervals is the first. These are difference constraints, so the
system fails exactly if the constraint graph has a negative cycle. Of two ways through time that go
to and fro between the kinds one can be made of two that cross, so a cycle goes once from the
beginning to the end and back by the total of one kind: the parts of it on the other kind are the
windows. The best way is found by one sweep, in O(n log n).

The reduced history keeps two calls of one kind in one window, with no call between the two: while
more than one call of a kind lies in a window, a pair with one call of each kind can be removed, and
a linearizable history stays linearizable (see the inequality).
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from kraftproof.checkers.explain.subhistory import BEGINNING, AlternationCount, SubHistory, Window
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel

_NEVER: Final = 1 << 62


def surplus_in(
    model: SequentialModel, sub: SubHistory, kind: Hashable, windows: Sequence[Window]
) -> AlternationCount:
    """Count a kind of calls in windows, against all others of a sub-history.

    Args:
        model: the model.
        sub: the sub-history; its calls take turns.
        kind: the call that is counted in the windows.
        windows: pairs of events, disjoint and in the order of time; a window from BEGINNING has
            nothing before it.
    """
    own = [entry for entry in sub.entries if entry.call == kind and entry.is_required]
    others = [(entry, _span(entry)) for entry in sub.entries if entry.call != kind]
    is_legal = any(model.step(start, kind) is not None for start in sub.starts)
    inside = (
        tuple(one for one in own if begin <= _span(one)[0] and _span(one)[1] <= end)
        for begin, end in windows
    )
    touching = (
        entry
        for entry, span in others
        if any(span[0] < end and begin < span[1] for begin, end in windows)
    )
    return AlternationCount(
        windows=tuple(windows),
        inside=tuple(inside),
        touching=tuple(touching),
        granted=tuple(int(is_legal or begin != BEGINNING) for begin, _ in windows),
    )


def too_many(model: SequentialModel, sub: SubHistory, kind: Hashable) -> AlternationCount | None:
    """Return windows that contain too many calls of a kind; None if no windows do."""
    own = [_span(entry) for entry in sub.entries if entry.call == kind]
    others = [_span(entry) for entry in sub.entries if entry.call != kind]
    is_legal = any(model.step(start, kind) is not None for start in sub.starts)
    windows = []
    for begin, end in _best_way(own, others, int(is_legal)):
        inside = [span for span in own if begin <= span[0] and span[1] < end]
        if inside:
            first = min(one[0] for one in inside)
            is_first = begin == BEGINNING and not is_legal
            windows.append((BEGINNING if is_first else first, max(one[1] for one in inside)))
    found = surplus_in(model, sub, kind, windows)
    return found if found.is_too_many else None


def _span(entry: Entry) -> Window:
    """The interval in which the call may take effect, from event to event."""
    end = entry.operation.complete_index if entry.is_required else None
    return entry.operation.invoke_index, _NEVER if end is None else end


def _best_way(own: Sequence[Window], others: Sequence[Window], at_first: int) -> list[Window]:
    """Return the windows that leave the most of a kind over, from a begin up to before an end."""
    inside, outside = _Best(), _Best()
    outside.start(BEGINNING, 0, None)
    inside.start(BEGINNING, -at_first, None)
    for event, span, is_own in _events(own, others):
        here, there = (inside, outside) if is_own else (outside, inside)
        if event == span[0]:
            here.start(event, there.most - int(is_own), there.last)
        else:
            here.complete(span[0])
    for begin, end in others:
        if end == _NEVER:
            outside.complete(begin)
    is_inside = inside.most > outside.most
    begins: list[int] = []
    node: _Node | None = inside.last if is_inside else outside.last
    while node is not None:
        begins.append(node.begin)
        node = node.before
    parts = list(pairwise([_NEVER, *begins]))
    return [(begin, end) for end, begin in parts[0 if is_inside else 1 :: 2]][::-1]


def _events(own: Sequence[Window], others: Sequence[Window]) -> Iterator[tuple[int, Window, bool]]:
    """Yield each begin and each end there is, in time."""
    spans = [(span, True) for span in own] + [(span, False) for span in others]
    events = [
        (event, span, is_own)
        for span, is_own in spans
        for event in span
        if BEGINNING < event < _NEVER
    ]
    yield from sorted(events)


@dataclass(slots=True)
class _Node:
    """A part of a way: where it begins, and the part before it."""

    begin: int
    before: "_Node | None"


@dataclass(slots=True)
class _Best:
    """The best of the ways that end in a part of one kind, by where that part begins.

    A call adds one to every part that begins before it, so the later of two parts matters only
    while its count is higher. The class keeps the differences between neighbouring parts.
    """

    begins: list[int] = field(default_factory=list)
    nodes: list[_Node] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    following: list[int] = field(default_factory=list)
    most: int = 0

    @property
    def last(self) -> _Node:
        """The last part of the best way."""
        while self.steps[-1] == 0 and len(self.steps) > 1:
            for each in (self.begins, self.nodes, self.steps, self.following):
                each.pop()
        return self.nodes[-1]

    def start(self, begin: int, most: int, before: _Node | None) -> None:
        """Add a way that switches to this kind, if its count is the highest."""
        if self.begins and most <= self.most:
            return
        self.begins.append(begin)
        self.nodes.append(_Node(begin, before))
        self.steps.append(most - self.most)
        self.following.append(len(self.following))
        self.most = most

    def complete(self, begin: int) -> None:
        """Count a call for all parts that begin no later than the call."""
        place = self._next(bisect_left(self.begins, begin + 1))
        if place == len(self.steps):
            self.most += 1
        else:
            self.steps[place] -= 1
            if self.steps[place] == 0:
                self.following[place] = place + 1

    def _next(self, place: int) -> int:
        """Return the first part, from a place on, that is better than all earlier parts."""
        found = place
        while found < len(self.following) and self.following[found] != found:
            found = self.following[found]
        while place < found:
            self.following[place], place = found, self.following[place]
        return found
