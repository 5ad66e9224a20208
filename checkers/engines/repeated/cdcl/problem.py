"""Whether calls on registers have a legal order, as a question of truth values.

For `checkers.engines.repeated.cdcl.cdcl`. There is a variable for each two calls that overlap: does
the one that was invoked first come first? And one for each call that finds a value and each that
leaves it: is that its *source*? (Of "read from" in Gibbons and Korach, "Testing shared memories",
1997, and the histories of Papadimitriou, "The serializability of concurrent database updates",
1979.) The values of these are a legal order if

- what is found has a source, which comes before it, or is what the register held at first;
- no call that leaves another value there comes between a source and what has it as such;
- of three calls none comes before itself by way of the others.

Only the first is told as clauses. The others follow from the calls themselves: see
`checkers.engines.repeated.cdcl.rules`. A call that may have no effect has a variable for whether it
is *used*, which it is if it is a source. Its own finds need a source only then; and only then does
it need a place: after all others it does no harm.

A literal is 2 v for a variable v that is true, 2 v + 1 for one that is false; variable 0 is always
true, so that literals 0 and 1 stand for what time has settled, and for that a call is used.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kraftproof.checkers.engines.repeated.layout import NEVER_THERE, NONE, Facts, Ints, Narrow
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel

AT_FIRST: Final = -1
"""The source of what a register held at first, in place of a call."""
ORDER: Final = -1
PLAIN: Final = -2
"""In place of a register: a variable is about an order, or about whether a call is used."""


class Problem(NamedTuple):
    """n calls that have to be put in order, by invocation, on r registers.

    Attributes:
        number: int64[n], which of the calls each is that were given.
        complete: int64[n], NEVER of calls that may have no effect.
        find: int32[n, r], the value found, NONE for none.
        leave: int32[n, r], the value left, NONE for none.
        used: int32[n], the literal that says that each has an effect; 0 if it has for sure.
        later: int64[n], the first call that was invoked after each one's completion.
        reach: int64[n], the last of these of all calls up to each one that have an effect for sure.
        pairs: int64[n], the variable of each with the call after it; those of the next ones follow.
        meets_starts: int64[n + 1], where the calls begin that overlap each.
        meets: int32[.], these.
        one, other: int32[v], of each variable the two calls: the source, if it is about that, or
            AT_FIRST, and what has it as such; the call that is used, and NONE.
        register: int32[v], in which; else ORDER or PLAIN.
        told: int32[v], the value that a source left, NONE of other variables.
        first_source: the first of the variables about sources.
        source_starts, sources: the variables with each call as the source in each register, by
            call and register, likewise.
        sink_starts, sinks: those of what each call has found in each.
        since: int64[n], the first call up to which one that has an effect for sure overlaps each.
        unsure: int32[.], the calls that may have no effect.
        clause_starts: int64[c + 1], where the literals of each clause begin.
        literals: int32[.], these.
    """

    number: Ints
    complete: Ints
    find: Narrow
    leave: Narrow
    used: Narrow
    later: Ints
    reach: Ints
    pairs: Ints
    meets_starts: Ints
    meets: Narrow
    one: Narrow
    other: Narrow
    register: Narrow
    told: Narrow
    first_source: int
    source_starts: Ints
    sources: Narrow
    sink_starts: Ints
    sinks: Narrow
    since: Ints
    unsure: Narrow
    clause_starts: Ints
    literals: Narrow


@bare_kernel
def before(problem: Problem, one: int, other: int) -> int:
    """Returns the literal that says that one call comes before another one."""
    if one == AT_FIRST:
        return 0
    first, second = min(one, other), max(one, other)
    told = 0
    if second < problem.later[first]:
        told = 2 * (problem.pairs[first] + second - first - 1)
    return int(told if one == first else told ^ 1)


def extent(facts: Facts, cut: int) -> tuple[int, int]:
    """Returns how many calls of a prefix there are to put in order, and pairs that overlap."""
    kept = _kept(facts, cut)
    complete = np.where(facts.complete[kept] <= cut, facts.complete[kept], NEVER)
    later = np.searchsorted(facts.invoke[kept], complete)
    return len(kept), int((later - np.arange(len(kept)) - 1).sum())


def problem_of(facts: Facts, cut: int) -> Problem | None:
    """Returns the question whether a prefix has a legal order; None if a find can have no source.

    Args:
        facts: what the calls of a key found and left, by invocation; pieces are not looked at.
        cut: the last event of the prefix.
    """
    kept = _kept(facts, cut)
    invoke, find, leave = facts.invoke[kept], facts.find[kept], facts.leave[kept]
    complete = np.where(facts.complete[kept] <= cut, facts.complete[kept], NEVER)
    calls, registers = find.shape
    later = np.searchsorted(invoke, complete).astype(np.int64)
    after = later - np.arange(calls) - 1
    pairs = 1 + np.cumsum(after) - after
    first = np.repeat(np.arange(calls), after)
    second = np.arange(len(first)) - np.repeat(pairs - 1, after) + first + 1

    found = np.empty((0, 3), dtype=np.int64)
    count = _sources(invoke, complete, find, leave, facts.values.initial, found)
    found = np.empty((count, 3), dtype=np.int64)
    _sources(invoke, complete, find, leave, facts.values.initial, found)
    source, sink, register = found.T
    (unsure,) = np.nonzero(complete == NEVER)
    none = np.full(len(unsure), NONE)
    sourced = 1 + len(first) + np.arange(len(found))
    used = np.zeros(calls, dtype=np.int32)
    used[unsure] = 2 * (1 + len(first) + len(found) + np.arange(len(unsure)))
    clauses = list(_clauses(find, found, 1 + len(first), used))
    if not all(clauses):
        return None
    meets_starts, meets = _grouped(np.append(first, second), np.append(second, first), calls)
    is_call = source != AT_FIRST
    by_source = (source * registers + register)[is_call]
    source_starts, sources = _grouped(by_source, sourced[is_call], calls * registers)
    sink_starts, sinks = _grouped(sink * registers + register, sourced, calls * registers)
    reach = np.maximum.accumulate(np.where(complete == NEVER, 0, later))
    return Problem(
        number=kept,
        complete=complete,
        find=find,
        leave=leave,
        used=used,
        later=later,
        reach=reach,
        pairs=pairs,
        meets_starts=meets_starts,
        meets=meets,
        one=_joined([NONE], first, source, unsure),
        other=_joined([NONE], second, sink, none),
        register=_joined([PLAIN], np.full(len(first), ORDER), register, np.full_like(none, PLAIN)),
        told=_joined([NONE], np.full(len(first), NONE), find[sink, register], none),
        first_source=1 + len(first),
        source_starts=source_starts,
        sources=sources,
        sink_starts=sink_starts,
        sinks=sinks,
        since=np.searchsorted(reach, np.arange(calls), side="right"),
        unsure=unsure.astype(np.int32),
        clause_starts=np.cumsum([0, *map(len, clauses)]).astype(np.int64),
        literals=np.asarray([literal for clause in clauses for literal in clause], dtype=np.int32),
    )


def _kept(facts: Facts, cut: int) -> Ints:
    """Returns the calls of a prefix that matter, by number; of those not over, what may help."""
    is_there, is_over = facts.invoke < cut, facts.complete <= cut
    does = ((facts.find != NONE) | (facts.leave != NONE)).any(axis=1)
    helps = np.zeros(len(is_there), dtype=np.bool_)
    for register in range(facts.find.shape[1]):
        left = facts.leave[:, register]
        helps |= (left >= 0) & np.isin(left, facts.find[is_there, register])
    helps &= ~(facts.find == NEVER_THERE).any(axis=1)
    return np.flatnonzero(is_there & does & (is_over | helps))


def _joined(*parts: ArrayLike) -> Narrow:
    """Returns what is told of all variables, from that of each kind of them."""
    return np.concatenate(parts).astype(np.int32)


def _grouped(groups: Ints, values: Ints, count: int) -> tuple[Ints, Narrow]:
    """Returns where the values of each group begin, and these."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count))))
    return starts.astype(np.int64), values[np.argsort(groups, kind="stable")].astype(np.int32)


def _clauses(find: Narrow, found: Ints, first: int, used: Narrow) -> Iterator[list[int]]:
    """Yields the clauses; an empty one where what was found for sure has no source."""
    of_find: dict[tuple[int, int], list[int]] = {}
    for variable, (source, sink, register) in enumerate(found.tolist(), first):
        of_find.setdefault((sink, register), []).append(2 * variable)
        if source != AT_FIRST and used[source]:
            yield [2 * variable + 1, int(used[source])]
    for sink, register in zip(*(axis.tolist() for axis in np.nonzero(find != NONE)), strict=True):
        unless = [int(used[sink]) ^ 1] if used[sink] else []
        yield [*of_find.get((sink, register), ()), *unless]


@bare_kernel
def _sources(
    invoke: Ints, complete: Ints, find: Narrow, leave: Narrow, initial: Ints, out: Ints
) -> int:
    """Notes the possible sources of all finds, as (source, sink, register); returns how many.

    By time alone: it begins before the call that finds it returns, and no other value was left for
    sure since. Where there is no room they are counted only. It looks at all pairs of calls.
    """
    count = 0
    for sink in range(len(find)):
        for register in range(find.shape[1]):
            value = find[sink, register]
            if value < 0:
                continue
            since = -1
            for call in range(sink):
                left = leave[call, register]
                is_other = left != NONE and left != value  # noqa: PLR1714 numba has no such tuples
                if is_other and complete[call] < invoke[sink]:
                    since = max(since, invoke[call])
            if since < 0 and initial[register] == value:
                count += _noted(out, count, AT_FIRST, sink, register)
            for call in range(len(find)):
                if invoke[call] > complete[sink]:
                    break
                if leave[call, register] == value and call != sink and complete[call] >= since:
                    count += _noted(out, count, call, sink, register)
    return count


@bare_kernel
def _noted(out: Ints, place: int, source: int, sink: int, register: int) -> int:
    if place < len(out):
        out[place] = source, sink, register
    return 1
