"""What a search for a legal order holds true, why, and what it has learned.

For `checkers.engines.repeated.cdcl.cdcl`. A literal that is held true has its reason: it was
decided, or follows from a clause or a rule and other literals.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.repeated.cdcl.problem import ORDER, PLAIN, Problem
from kraftproof.checkers.engines.repeated.layout import Ints, Narrow
from kraftproof.checkers.kernels import bare_kernel

SIZE: Final = 0
HEAD: Final = 1
LEVEL: Final = 2
WORK: Final = 3
CLAUSES: Final = 4
LITERALS: Final = 5
QUEUED: Final = 6
WRONG: Final = 7
WRONG_KIND: Final = 8
WRONG_WHY: Final = 9
CONFLICTS: Final = 10

DECIDED: Final = 0
CLAUSE: Final = 1
BETWEEN: Final = 2
SOURCE: Final = 3

NOTHING_WRONG: Final = -1
END: Final = -1
"""Of a list of clauses."""

_LEARNED_LITERALS: Final = 1 << 22
_LEARNED_CLAUSES: Final = 1 << 16
_AFTER_ALL: Final = -(1 << 40)
"""A weight that no number of conflicts makes up for: orders are decided after all sources,
and after it is known which calls are used."""


class State(NamedTuple):
    """The state of a search over v variables.

    Attributes:
        value: int8[2 v], 1 for a literal that is held true, -1 for one held false, else 0.
        level: int32[v], of each variable with a value the number of the last decision that it
            follows from; its own if it was decided.
        kind: int8[v], where the value is from.
        why: int32[v], by kind: the CLAUSE; the call BETWEEN two that are ordered by way of it, or
            between a source and what then can't have it; the variable of the SOURCE that a call
            can't come behind.
        trail: int32[v], what is held true, in the order in which it came.
        marks: int32[v + 1], where each decision is there.
        phase: int8[v], 0 for a variable that is to be held true when it is decided, else 1.
        weight: int64[v]; of two variables without a value the weightier is decided first.
        heap: int32[v], variables, the weightiest first, as a heap.
        place: int32[v], the place of each in it, -1 for none.
        seen: int8[v], marks of an analysis.
        learned: int32[v], the clause that it makes.
        because: int32[v], the literals from which one follows.
        starts: int64[c + 1], where the literals of each clause begin.
        literals: int32[l], these, the two watched first.
        watched: int32[2 v], the first clause of those that watch each literal.
        following: int32[2 c], the next one, for each clause's two.
        at: int64[11], the SIZE of the trail, its HEAD, up to which all consequences were drawn, the
            LEVEL, the WORK done, how many CLAUSES and LITERALS there are, how many are QUEUED in
            the heap, the literal that is WRONG, as it follows and is held false, with its kind and
            why, and how many CONFLICTS there were.
    """

    value: NDArray[np.int8]
    level: Narrow
    kind: NDArray[np.int8]
    why: Narrow
    trail: Narrow
    marks: Narrow
    phase: NDArray[np.int8]
    weight: Ints
    heap: Narrow
    place: Narrow
    seen: NDArray[np.int8]
    learned: Narrow
    because: Narrow
    starts: Ints
    literals: Narrow
    watched: Narrow
    following: Narrow
    at: Ints


def new_state(problem: Problem) -> State:
    """Returns the state of a search at its beginning."""
    variables, clauses = len(problem.one), len(problem.clause_starts) - 1
    weight = _weights(problem)
    heap = 1 + np.argsort(-weight[1:], kind="stable")
    place = np.full(variables, -1, dtype=np.int32)
    place[heap] = np.arange(variables - 1)
    state = State(
        value=np.zeros(2 * variables, dtype=np.int8),
        level=np.zeros(variables, dtype=np.int32),
        kind=np.zeros(variables, dtype=np.int8),
        why=np.zeros(variables, dtype=np.int32),
        trail=np.zeros(variables, dtype=np.int32),
        marks=np.zeros(variables + 1, dtype=np.int32),
        phase=_phases(problem),
        weight=weight,
        heap=np.append(heap, 0).astype(np.int32),
        place=place,
        seen=np.zeros(variables, dtype=np.int8),
        learned=np.zeros(variables, dtype=np.int32),
        because=np.zeros(variables, dtype=np.int32),
        starts=np.zeros(clauses + _LEARNED_CLAUSES + 1, dtype=np.int64),
        literals=np.zeros(len(problem.literals) + _LEARNED_LITERALS, dtype=np.int32),
        watched=np.full(2 * variables, END, dtype=np.int32),
        following=np.full(2 * (clauses + _LEARNED_CLAUSES), END, dtype=np.int32),
        at=np.zeros(11, dtype=np.int64),
    )
    state.at[QUEUED], state.at[WRONG] = variables - 1, NOTHING_WRONG
    return state


def _weights(problem: Problem) -> Ints:
    """Returns the weights at first: sources, then what is used, then orders, and each by time.

    What is decided late is about late calls then, so that a clause that is learned takes back
    little: where weights are all alike most of the orders are taken back at each conflict.
    """
    kinds = [problem.register >= 0, problem.register == PLAIN]
    return np.select(kinds, [0, _AFTER_ALL // 2], _AFTER_ALL) - np.maximum(
        problem.one, problem.other
    )


def _phases(problem: Problem) -> NDArray[np.int8]:
    """Returns what is tried first: no source, by invocation, what may have no effect late."""
    phases = np.ones(len(problem.one), dtype=np.int8)
    (orders,) = np.nonzero(problem.register == ORDER)
    one, other = problem.used[problem.one[orders]], problem.used[problem.other[orders]]
    phases[orders] = (one != 0) & (other == 0)
    return phases


@bare_kernel
def hold(state: State, literal: int, kind: int, why: int, level: int) -> None:
    """Holds a literal true that follows from those of a level; it is WRONG if it is false."""
    at = state.at
    if state.value[literal] < 0:
        at[WRONG], at[WRONG_KIND], at[WRONG_WHY] = literal, kind, why
    elif state.value[literal] == 0:
        variable = literal >> 1
        state.value[literal], state.value[literal ^ 1] = 1, -1
        state.level[variable], state.kind[variable] = level, kind
        state.why[variable] = why
        state.trail[at[SIZE]] = literal
        at[SIZE] += 1


@bare_kernel
def level_of(state: State, literal: int) -> int:
    """Returns the number of the last decision that a literal follows from; its own if it is one."""
    return int(state.level[literal >> 1])


@bare_kernel
def back_to(state: State, level: int) -> None:
    """Takes back the decisions since a level, and what follows from them.

    What came after them but follows from earlier ones stays, and is drawn from anew: it may have
    found something held true already that is not any more.
    """
    at = state.at
    if at[LEVEL] <= level:
        return
    first = kept = state.marks[level + 1]
    for place in range(first, at[SIZE]):
        literal = state.trail[place]
        if level_of(state, literal) <= level:
            state.trail[kept] = literal
            kept += 1
            continue
        state.value[literal], state.value[literal ^ 1] = 0, 0
        state.phase[literal >> 1] = literal & 1
        queue(state, literal >> 1)
    at[SIZE], at[HEAD] = kept, first
    at[LEVEL] = level


@bare_kernel
def weigh(state: State, variable: int) -> None:
    """Notes that a variable had to do with a conflict."""
    state.weight[variable] += 1
    if state.place[variable] >= 0:
        _rise(state, state.place[variable])


@bare_kernel
def queue(state: State, variable: int) -> None:
    """Puts a variable into the heap, unless it is there."""
    if state.place[variable] < 0:
        place = state.at[QUEUED]
        state.at[QUEUED] += 1
        state.heap[place], state.place[variable] = variable, place
        _rise(state, place)


@bare_kernel
def weightiest(problem: Problem, state: State) -> int:
    """Takes the weightiest variable without a value out of the heap; -1 if all have one.

    Of orders only those of calls that are used: the others are put back when they are.
    """
    while state.at[QUEUED]:
        found = state.heap[0]
        state.at[QUEUED] -= 1
        last = state.heap[state.at[QUEUED]]
        state.place[found] = -1
        if state.at[QUEUED]:
            state.heap[0], state.place[last] = last, 0
            _sink(state, 0)
        if state.value[2 * found] == 0 and _matters(problem, state, found):
            return int(found)
    return -1


@bare_kernel
def _matters(problem: Problem, state: State, variable: int) -> bool:
    if problem.register[variable] != ORDER:
        return True
    one, other = problem.one[variable], problem.other[variable]
    return is_used(problem, state, one) and is_used(problem, state, other)


@bare_kernel
def is_used(problem: Problem, state: State, call: int) -> bool:
    """Says whether a call is known to have an effect."""
    return bool(state.value[problem.used[call]] > 0)


@bare_kernel
def _rise(state: State, place: int) -> None:
    heap, weight, variable = state.heap, state.weight, state.heap[place]
    while place and weight[heap[(place - 1) >> 1]] < weight[variable]:
        heap[place] = heap[(place - 1) >> 1]
        state.place[heap[place]] = place
        place = (place - 1) >> 1
    heap[place], state.place[variable] = variable, place


@bare_kernel
def _sink(state: State, place: int) -> None:
    heap, weight, variable = state.heap, state.weight, state.heap[place]
    while 2 * place + 1 < state.at[QUEUED]:
        below = 2 * place + 1
        if below + 1 < state.at[QUEUED] and weight[heap[below + 1]] > weight[heap[below]]:
            below += 1
        if weight[heap[below]] <= weight[variable]:
            break
        heap[place] = heap[below]
        state.place[heap[place]] = place
        place = below
    heap[place], state.place[variable] = variable, place
