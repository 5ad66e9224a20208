"""Chooses the few values that show why a call cannot follow a linearization.

The choices are heuristic proposals; an engine decides the reduced history
(`checkers.explain.reduction.minimise`). The linearization's updates are replayed with ever more of
its values until the call is refused, so that the cost follows the size of the answer if the first
values are well chosen.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from kraftproof.checkers.explain.reduction.unmatched_takes import UnmatchedTakesModel
from kraftproof.checkers.explain.reduction.values import fewest
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models.reducible import AllBut, ReducibleModel

_MOST_EACH: Final = 64
"""Maximum number of values, each sufficient alone, that are tried together."""
_MOST_CALLS: Final = 12
"""Maximum number of calls of a value that is tried alone."""
_MOST_PAIRS: Final = 4
_FEW: Final = 4
"""A call about more values than this returns many at once, as a read of a whole list does."""


def relevant_values(
    model: ReducibleModel, order: Sequence[Entry], whole: SubHistory
) -> Iterator[list[Hashable]]:
    """Yield the fewest values for which the last call cannot follow the linearization.

    Pair a missing value with a value the last call did return, so that the missing write is known
    to precede the call. Then yield pairs of values on which the last call and another call
    disagree. If indeterminate calls may have removed a value, more values of the same kind are
    yielded last.

    The first attempt leaves out the values of calls that may be absent or may come later: a
    blocking element proves nothing while a take of the element is open, and an observed element
    proves nothing while its append is open. Later attempts add these values; another attempt uses
    the values of the last call alone, which it may have returned in a wrong order. Values updated
    late come first, then values updated early: the top of a stack matters, or an early element of a
    set. The replay follows one linearization, so the values may not suffice for another
    linearization.

    Args:
        model: the model.
        order: the longest linearization before the last call.
        whole: all calls up to the completion of the last call.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    updates = [call for call in _effective(model, order) if not model.is_pure(call)]
    replay = _Replay(model=model, updates=updates, first_illegal=last.call)
    unsure = _values(model, (one for one in whole.entries if not one.is_required)) - own
    done = {entry.operation.invoke_index for entry in order if _is_over(entry, last)}
    others = [one for one in whole.entries if one is not last and not model.is_pure(one.call)]
    beside = _values(model, (one for one in others if one.operation.invoke_index not in done))
    returned = set[frozenset[Hashable]]()
    not_told = frozenset(replay.about) - own
    seen = [value for value in replay.about if value in own][:1] if len(own) > _FEW else []
    ways = (unsure | beside, beside, unsure, frozenset[Hashable](), not_told)
    for left_out in dict.fromkeys(ways):
        for values in _orders(own, [*replay.about], left_out):
            few = _fewest_refused(replay, values)
            if few is None:
                break  # nor are they enough in another order
            if frozenset(few) not in returned:
                returned.add(frozenset(few))
                yield few
                if seen and own.isdisjoint(few):
                    yield [*few, *seen]
    yield from _disagreed_on(model, whole, own)
    if isinstance(model, UnmatchedTakesModel):
        yield from _each_refused(model, whole, [one for one in replay.about if one not in unsure])


@dataclass(slots=True, kw_only=True)
class _Replay:
    """The updates of a linearization, and a call that cannot follow the updates.

    Attributes:
        about: the updates about each value, in the order in which the values came.
        always: the updates that concern no value, or every value.
    """

    model: ReducibleModel
    updates: Sequence[Hashable]
    first_illegal: Hashable
    about: dict[Hashable, list[int]]
    always: list[int]

    def __init__(
        self, *, model: ReducibleModel, updates: Sequence[Hashable], first_illegal: Hashable
    ) -> None:
        self.model, self.updates, self.first_illegal = model, updates, first_illegal
        self.about, self.always = {}, []
        for number, call in enumerate(updates):
            values = sorted(model.values(call), key=repr)
            for value in values:
                self.about.setdefault(value, []).append(number)
            if not values:
                self.always.append(number)

    def refuses(self, kept: Collection[Hashable]) -> bool:
        """Return whether the call is illegal after the updates, with these values alone."""
        left_out = AllBut(kept)
        last = self.model.without(self.first_illegal, left_out)
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
    """Yield the values without the excluded values, the most promising values first.

    Promising values are the values of the last call. For a call with many values, most values are
    right, so the values that it lacks or should lack come first.
    """
    unplaced = sorted(own.difference(placed), key=repr)
    for values in (placed[::-1], placed):
        first = [one for one in values if (one in own) == (len(own) <= _FEW)]
        then = [one for one in values if (one in own) != (len(own) <= _FEW)]
        yield [one for one in (*unplaced, *first, *then) if one not in left_out]


def _fewest_refused(replay: _Replay, values: list[Hashable]) -> list[Hashable] | None:
    """Return the fewest leading values with which the replay refuses the call.

    None if all values allow the call.

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
    """Yield pairs of a value only in another call and a value only in the last call.

    Only calls with many values are compared, as reads of a whole list; the last to return first.
    """
    returned = [one for one in whole.entries if one.is_required and model.is_pure(one.call)]
    returned.sort(key=lambda one: one.operation.complete_index or 0, reverse=True)
    found = dict[tuple[Hashable, Hashable], None]()
    for one in returned[:_MOST_EACH] if len(own) > _FEW else ():
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
    """Yield the calls of an order.

    An indeterminate call is replaced by its actual effect in the order.
    """
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
    """Yield ever more of the values each of which is enough with the last call's own.

    Calls that concern no value are ignored here: an indeterminate call may have removed a few of
    the values, but seldom every value.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    # By index, since the recorded values of an operation may be lists.
    about: dict[Hashable, dict[int, Entry]] = defaultdict(dict)
    for entry in whole.entries:
        for value in model.values(entry.call):
            about[value][entry.operation.index] = entry
    about_own = {last.operation.index: last}
    for value in own:
        about_own |= about[value]

    def is_enough(value: Hashable) -> bool:
        entries = tuple(sorted((about[value] | about_own).values(), key=_begin))
        is_short = len(entries) <= _MOST_CALLS
        return is_short and is_linearizable(model, replace(whole, entries=entries)) is False

    enough = [value for value in values if value not in own and is_enough(value)]
    for size in range(2, min(len(enough), _MOST_EACH) + 1):
        yield [*sorted(own, key=repr), *enough[:size]]


def _is_over(entry: Entry, last: Entry) -> bool:
    """Return whether a call of an order was over before the last one began, or need not have been.

    An optional call that the order contains counts as unsure, not as beside the call.
    """
    end = entry.operation.complete_index
    return not entry.is_required or end is None or end < last.operation.invoke_index


def _begin(entry: Entry) -> int:
    return entry.operation.invoke_index
