"""Which few values show that a call can't follow a linearization, for the others to be left out.

Heuristics: they propose, and an engine decides what is left
(`checkers.explain.reduction.minimise`). The linearization's updates are replayed with ever more of
its values, until the call is refused, so that the cost follows the answer's size where the first
ones are well chosen.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from kraftproof.checkers.explain.reduction.unmatched_takes import UnmatchedTakesModel
from kraftproof.checkers.explain.reduction.values import fewest
from kraftproof.checkers.explain.subhistory import Entry, SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.models.reducible import AllBut, ReducibleModel

_MOST_EACH: Final = 64
"""Of values that are each enough so many are tried together."""
_MOST_CALLS: Final = 12
"""Values with more calls than these are not looked at one by one."""
_MOST_PAIRS: Final = 4
_FEW: Final = 4
"""A call about more values than these tells of many at once, as a read of a whole list does."""


def relevant_values(
    model: ReducibleModel, order: Sequence[Entry], whole: SubHistory
) -> Iterator[list[Hashable]]:
    """Yields the fewest values for which the last call can't follow the linearization before it.

    What it lacks comes with one that it has, too, which says that it came after this one was there.
    Then two that the last call and another disagree on. Where lost calls may have done away with a
    value, more of the same are yielded at last.

    First without those of calls that need not have come before it, or may yet come: an element that
    is in its way shows nothing if a take of it is open, nor does one that it saw if that is being
    appended. Then with ever more of them; and the last call's own alone, which it may have told of
    in a wrong order. First of the values updated late, then of those updated early: what is on top
    of a stack counts, or what was surely in a set. Replayed in the order of that linearization, so
    they may be too few where there are others.

    Args:
        model: the model.
        order: the longest linearization before the last call.
        whole: all calls up to the last one's completion.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    updates = [call for call in _effective(model, order) if not model.is_pure(call)]
    replay = _Replay(model=model, updates=updates, stuck=last.call)
    unsure = _values(model, (one for one in whole.entries if not one.is_required)) - own
    done = {entry.operation.invoke_index for entry in order if _is_over(entry, last)}
    others = [one for one in whole.entries if one is not last and not model.is_pure(one.call)]
    beside = _values(model, (one for one in others if one.operation.invoke_index not in done))
    told = set[frozenset[Hashable]]()
    not_told = frozenset(replay.about) - own
    seen = [value for value in replay.about if value in own][:1] if len(own) > _FEW else []
    ways = (unsure | beside, beside, unsure, frozenset[Hashable](), not_told)
    for left_out in dict.fromkeys(ways):
        for values in _orders(own, [*replay.about], left_out):
            few = _fewest_refused(replay, values)
            if few is None:
                break  # nor are they enough in another order
            if frozenset(few) not in told:
                told.add(frozenset(few))
                yield few
                if seen and own.isdisjoint(few):
                    yield [*few, *seen]
    yield from _disagreed_on(model, whole, own)
    if isinstance(model, UnmatchedTakesModel):
        yield from _each_refused(model, whole, [one for one in replay.about if one not in unsure])


@dataclass(slots=True, kw_only=True)
class _Replay:
    """The updates of a linearization, and a call that can't follow them.

    Attributes:
        about: the updates about each value, in the order in which the values came.
        always: those that are about no value, or all.
    """

    model: ReducibleModel
    updates: Sequence[Hashable]
    stuck: Hashable
    about: dict[Hashable, list[int]]
    always: list[int]

    def __init__(
        self, *, model: ReducibleModel, updates: Sequence[Hashable], stuck: Hashable
    ) -> None:
        self.model, self.updates, self.stuck = model, updates, stuck
        self.about, self.always = {}, []
        for number, call in enumerate(updates):
            values = sorted(model.values(call), key=repr)
            for value in values:
                self.about.setdefault(value, []).append(number)
            if not values:
                self.always.append(number)

    def refuses(self, kept: Collection[Hashable]) -> bool:
        """Says whether the call is not legal after the updates, of all with these values alone."""
        left_out = AllBut(kept)
        last = self.model.without(self.stuck, left_out)
        if last is None:
            return False
        about = (self.about.get(value, ()) for value in kept)
        state: Hashable | None = self.model.init()
        for number in sorted({*self.always, *chain.from_iterable(about)}):
            call = self.model.without(self.updates[number], left_out)
            state = state if call is None else self.model.step(state, call)
            if state is None:
                return False
        return self.model.step(state, last) is None


def _orders(
    own: frozenset[Hashable], placed: Sequence[Hashable], left_out: frozenset[Hashable]
) -> Iterator[list[Hashable]]:
    """Yields the values, but for those left out, with those first that are likely to count.

    These are the last call's own; if it tells of many, those that it should have told of, or should
    not: with most it is right.
    """
    unplaced = sorted(own.difference(placed), key=repr)
    for values in (placed[::-1], placed):
        first = [one for one in values if (one in own) == (len(own) <= _FEW)]
        then = [one for one in values if (one in own) != (len(own) <= _FEW)]
        yield [one for one in (*unplaced, *first, *then) if one not in left_out]


def _fewest_refused(replay: _Replay, values: list[Hashable]) -> list[Hashable] | None:
    """Returns the fewest of the first values with which the call is refused; None if of all none.

    The last of those are left out first.
    """
    size = 1
    while not (values and replay.refuses(values[:size])):
        if size >= len(values):
            return None
        size *= 2
    return fewest(values[:size][::-1], replay.refuses)


def _disagreed_on(
    model: ReducibleModel, whole: SubHistory, own: frozenset[Hashable]
) -> Iterator[list[Hashable]]:
    """Yields a value that another call told of, and the last did not, and one the other way round.

    Of calls that each tell of many, as reads of a whole list do; the last to return first.
    """
    told = [one for one in whole.entries if one.is_required and model.is_pure(one.call)]
    told.sort(key=lambda one: one.operation.complete_index or 0, reverse=True)
    found = dict[tuple[Hashable, Hashable], None]()
    for one in told[:_MOST_EACH] if len(own) > _FEW else ():
        theirs = model.values(one.call)
        if theirs.isdisjoint(own) or theirs <= own or own <= theirs:
            continue
        found[min(theirs - own, key=repr), min(own - theirs, key=repr)] = None
        if len(found) == _MOST_PAIRS:
            break
    yield from map(list, found)


def _values(model: ReducibleModel, entries: Iterable[Entry]) -> frozenset[Hashable]:
    return frozenset().union(*(model.values(one.call) for one in entries))


def _effective(model: ReducibleModel, order: Sequence[Entry]) -> Iterator[Hashable]:
    """Yields the calls of an order, and of what was lost that which it did there."""
    calls = [entry.call for entry in order]
    if not isinstance(model, UnmatchedTakesModel):
        yield from calls
        return
    state: Hashable | None = model.init()
    for call in calls:
        yield model.done(state, call)
        state = model.step(state, call)


def _each_refused(
    model: ReducibleModel, whole: SubHistory, values: Sequence[Hashable]
) -> Iterator[list[Hashable]]:
    """Yields ever more of the values each of which is enough with the last call's own.

    Calls about no value are not looked at here: those that were lost may have done away with some
    of these values, but seldom with all.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    about: dict[Hashable, set[Entry]] = defaultdict(set)
    for entry in whole.entries:
        for value in model.values(entry.call):
            about[value].add(entry)
    about_own = {last}.union(*(about[value] for value in own))

    def is_enough(value: Hashable) -> bool:
        entries = tuple(sorted(about[value] | about_own, key=_begin))
        is_short = len(entries) <= _MOST_CALLS
        return is_short and is_linearizable(model, replace(whole, entries=entries)) is False

    enough = [value for value in values if value not in own and is_enough(value)]
    for size in range(2, min(len(enough), _MOST_EACH) + 1):
        yield [*sorted(own, key=repr), *enough[:size]]


def _is_over(entry: Entry, last: Entry) -> bool:
    """Says whether a call of an order was over before the last one began, or need not have been.

    What need not have happened at all, and did in that order, counts as unsure, not as beside it.
    """
    end = entry.operation.complete_index
    return not entry.is_required or end is None or end < last.operation.invoke_index


def _begin(entry: Entry) -> int:
    return entry.operation.invoke_index
