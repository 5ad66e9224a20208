"""Proves a history invalid by its last call, alone or with one other call, all others optional.

If many calls may have taken effect, windows with many required calls can be hopeless to decide. Two
calls often suffice: a write that replaced a value, and a later read of the old value. Optional
calls are weakened as far as possible, so that many calls become equal. If calls concern values, the
first attempt keeps only the values near the last call. Each candidate is a sound reduction, and a
quick look decides it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.explain.reduction.reductions import (
    optional,
    projected,
    tidied,
    weakest,
    window,
)
from kraftproof.checkers.explain.reduction.values import fewest
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.budget import Budget
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import AllBut, is_reducible
from kraftproof.checkers.verdict import Verdict

_MOST_OTHERS: Final = 64
"""Number of partners tried for the last call: by latest invocation, and by latest completion."""
_RARE: Final = 16
"""Parts that occur in at most this number of calls link related calls."""
_MOST_ALIKE: Final = 4
"""Maximum number of equal partners tried."""
_VALUES: Final = (1, 2, 4, 8)
_SHORT: Final = 8
"""Maximum number of calls that a plain search decides in a millisecond."""
_SHORT_BYTES: Final = 100_000

Make = Callable[[SequentialModel, SubHistory, Sequence[Entry]], SubHistory | None]
"""Makes a candidate in which only the given calls are required."""


def smallest_core(
    model: SequentialModel,
    whole: SubHistory,
    values: Iterable[Sequence[Hashable]],
    budget: Budget,
) -> SubHistory | None:
    """Return an invalid reduction with one or two required calls; None if no reduction was found.

    Args:
        model: the model.
        whole: the operations completed up to the first illegal completion.
        values: sets of values, each of which may suffice for a proof.
        budget: the time for it.
    """
    if not is_reducible(model):
        return None
    reducible, found = model, list[SubHistory]()

    def is_enough(kept: Collection[Hashable]) -> bool:
        shown = two_operation_core(model, projected(reducible, whole, AllBut(kept)), budget)
        found.extend([] if shown is None else [shown])
        return shown is not None

    for some in values:
        if is_enough(some):
            fewest(list(some), is_enough)
            return min(found, key=len)
    return None


def nearest(values: Sequence[Hashable]) -> Iterator[Sequence[Hashable]]:
    """Yield a few leading sets of values, by distance to the last call."""
    return (values[:size] for size in _VALUES if size < len(values))


def two_operation_core(
    model: SequentialModel, whole: SubHistory, budget: Budget
) -> SubHistory | None:
    """Return an invalid sub-history with one or two required calls.

    None if the search found no pair.

    The first attempt weakens all other calls and starts at the first invocation of the pair. The
    second attempt keeps optional calls as recorded, because a recorded answer may be the reason
    that a call did not happen. The third attempt starts at the beginning of the history and takes
    longer.
    """
    required = [one for one in whole.entries if one.is_required]
    if not required:
        return None
    required.sort(key=_end_of, reverse=True)
    others = [required[0], *_others(required)]
    weak = weakest(model, whole).entries
    recorded = zip(whole.entries, weak, strict=True)
    half_weak = tuple(less if one.is_required else one for one, less in recorded)
    ways: list[tuple[Sequence[Entry], Make]] = [(weak, _late)]
    ways += [(half_weak, _late)] if half_weak != weak else []
    ways += [(weak, _all)]
    tried = (_shown_by_two(model, whole, less, others, budget, make) for less, make in ways)
    return next(filter(None, tried), None)


def _shown_by_two(
    model: SequentialModel,
    whole: SubHistory,
    weak: Sequence[Entry],
    others: Sequence[Entry],
    budget: Budget,
    make: Make,
) -> SubHistory | None:
    """Return the first of some calls, with another, required and as recorded; all else is weak.

    Among the pairs, prefer the pair that leaves the fewest calls when the other call is weakened,
    too; an unweakened call may keep many calls in the sub-history.
    """
    last, tried = others[0], {one.operation.index for one in others}
    pairs = [  # what is pure and need not have happened would be left out each time
        (one, less)
        for one, less in zip(whole.entries, weak, strict=True)
        if one.operation.index in tried or not model.is_pure(less.call)
    ]

    def shown(*kept: Entry) -> SubHistory | None:
        as_it_is = {one.operation.index: one for one in kept}
        entries = tuple(as_it_is.get(one.operation.index, less) for one, less in pairs)
        sub = make(model, replace(whole, entries=entries), kept)
        sub = None if sub is None else tidied(model, sub)
        return sub if sub is not None and _is_refuted(model, sub, budget) else None

    weaker = {one.operation.index: less for one, less in pairs}
    found: dict[int, SubHistory] = {}
    for other in others:
        if not budget.has_time():
            break
        sub = shown(last, other)
        if sub is None:
            continue
        left = sub if len(sub) <= 2 else shown(last, weaker[other.operation.index]) or sub
        found.setdefault(len(left), sub)
        if len(left) <= 2:
            break
    return found[min(found)] if found else None


def _late(model: SequentialModel, sub: SubHistory, kept: Sequence[Entry]) -> SubHistory | None:
    """Return the calls placed after the first invocation of the kept calls, which stay required."""
    return window(model, sub, min(one.operation.invoke_index for one in kept), kept)


def _all(model: SequentialModel, sub: SubHistory, kept: Sequence[Entry]) -> SubHistory:
    """Return the whole history with only the kept calls required."""
    return optional(model, sub, [n for n, one in enumerate(sub.entries) if one not in kept])


def _is_refuted(model: SequentialModel, sub: SubHistory, budget: Budget) -> bool:
    """Return whether the relaxed search or, if short, a plain search finds it invalid."""
    plan = plan_of(model, list(sub.entries))
    if budget.is_refuted(model, plan, sub.starts):
        return True
    if len(sub) > _SHORT:
        return False
    return budget.searched(model, plan, sub.starts, _SHORT_BYTES).verdict is Verdict.INVALID


def _others(required: Sequence[Entry]) -> list[Entry]:
    """Return partners to try with the first call: calls that share a rare part go first.

    Then come calls that completed before the last call began, latest invocation first, and calls by
    latest completion.
    """
    last, *rest = required
    counts = Counter(part for one in required for part in _parts(one.call))
    rare = {part for part in _parts(last.call) if counts[part] <= _RARE}
    alike = [one for one in rest if not rare.isdisjoint(_parts(one.call))]
    over = [one for one in rest if _end_of(one) < last.operation.invoke_index]
    over.sort(key=lambda one: one.operation.invoke_index, reverse=True)
    both = (islice(_first_of_each(some), _MOST_OTHERS) for some in (over, rest))
    return list({one.operation.index: one for one in chain(alike, *both)}.values())


def _parts(call: Hashable) -> tuple[Hashable, ...]:
    return call if isinstance(call, tuple) else (call,)


def _first_of_each(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries, at most a few for each distinct call."""
    seen: Counter[Hashable] = Counter()
    for entry in entries:
        seen[entry.call] += 1
        if seen[entry.call] <= _MOST_ALIKE:
            yield entry


def _end_of(entry: Entry) -> int:
    return entry.operation.complete_index or 0
