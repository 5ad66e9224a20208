"""Registers whose values come again, crowded: a legal order of a prefix by learning from conflicts.

For `checkers.engines.repeated.beam_search.beam_search`, whose best configurations all come to
nothing where many calls are open and few values are told apart. Whether a prefix has a legal order
is asked here as a question of truth values (`checkers.engines.repeated.cdcl.problem`), and answered
by a search that learns a clause from each conflict (`checkers.engines.repeated.cdcl.search`), with
rules of its own for what orders and sources are (`checkers.engines.repeated.cdcl.rules`):
satisfiability modulo a theory, as Tan, Zhao, Mu and Walfish, "Cobra: making transactional key-value
stores verifiably serializable" (2020), ask it of transactions, whose solver, MonoSAT, has acyclic
graphs as its theory (Bayless, Bayless, Hoos and Hu, "SAT modulo monotonic theories", 2015). Both
answers are exact; an order is replayed first.

Time exponential at worst, in practice some thousand conflicts at some 100,000 to 500,000 lookups;
memory some 100 bytes for each two calls that overlap, so O(n c), and O(n) more for each call that
is indeterminate. Pieces that are appended are not told: strings are not decided here.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from kraftproof.checkers.engines.repeated.cdcl.problem import ORDER, Problem, extent, problem_of
from kraftproof.checkers.engines.repeated.cdcl.search import (
    FOUND,
    STOPPED,
    add_clause,
    has_room,
    search,
)
from kraftproof.checkers.engines.repeated.cdcl.state import DECIDED, WORK, State, hold, new_state
from kraftproof.checkers.engines.repeated.layout import NONE, Facts, Ints

_CONFLICTS: Final = 1 << 10
"""After so many the search starts again, with what it has learned."""
_LOOKUPS: Final = 2
"""So many lookups count as one step of a search by returns: they take about as long."""
_BYTES: Final = 100
"""What two calls that overlap take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What is known of a prefix.

    Attributes:
        is_legal: whether it has a legal order; None if that took too much.
        order: the updates in a legal order, by number; None if none is known.
        steps: the work done.
    """

    is_legal: bool | None
    order: Ints | None = None
    steps: int = 0


def settle(facts: Facts, cut: int, steps: int, memory_bytes: int) -> Settled:
    """Says whether a prefix has a legal order.

    Args:
        facts: what the calls of a key found and left, by invocation; without pieces.
        cut: the last event of the prefix.
        steps: so much work at most.
        memory_bytes: so much memory, about.
    """
    calls, pairs = extent(facts, cut)
    # To find the sources takes time, too: all pairs of calls are looked at, whether they overlap.
    laid_out = calls * calls * facts.find.shape[1]
    most = _LOOKUPS * steps - laid_out
    if _BYTES * pairs > memory_bytes or most <= 0:
        return Settled(is_legal=None)
    problem = problem_of(facts, cut)
    if problem is None:
        return Settled(is_legal=False)
    state, answer = _begun(problem), STOPPED
    while answer == STOPPED and state.at[WORK] < most and has_room(state):
        answer = search(problem, state, _CONFLICTS, most)
    done = (int(state.at[WORK]) + laid_out) // _LOOKUPS
    if answer == STOPPED:
        return Settled(is_legal=None, steps=done)
    if answer != FOUND:
        return Settled(is_legal=False, steps=done)
    order = _order(problem, state)
    if not _is_legal(problem, facts.values.initial, order):
        return Settled(is_legal=None, steps=done)
    is_update = (problem.leave[order] != NONE).any(axis=1)
    return Settled(is_legal=True, order=problem.number[order[is_update]], steps=done)


def _begun(problem: Problem) -> State:
    """Returns a search with the clauses of a problem."""
    state = new_state(problem)
    hold(state, 0, DECIDED, 0, 0)
    for first, end in pairwise(problem.clause_starts.tolist()):
        if end == first + 1:
            hold(state, int(problem.literals[first]), DECIDED, 0, 0)
        else:
            add_clause(state, first, end, problem.literals)
    return state


def _order(problem: Problem, state: State) -> Ints:
    """Returns places of the calls in the order that was found, but those that have no effect."""
    calls = len(problem.number)
    is_true = state.value[0::2] > 0
    has_effect = is_true[problem.used >> 1]
    (orders,) = np.nonzero(problem.register == ORDER)
    one, other = problem.one[orders], problem.other[orders]
    last = np.where(is_true[orders], other, one)[has_effect[one] & has_effect[other]]
    # How many come before each: by time, and of those that overlap it.
    place = np.searchsorted(np.sort(problem.later), np.arange(calls), side="right")
    order = np.argsort(place + np.bincount(last, minlength=calls))
    told: Ints = order[has_effect[order]]
    return told


def _is_legal(problem: Problem, initial: Ints, order: Ints) -> bool:
    """Replays an order: only so it is believed, whatever the rules overlook."""
    held, last = initial, -1
    for call in order.tolist():
        find, leave = problem.find[call], problem.leave[call]
        if problem.later[call] <= last or ((find != NONE) & (find != held)).any():
            return False
        held, last = np.where(leave != NONE, leave, held), max(last, call)
    return True
