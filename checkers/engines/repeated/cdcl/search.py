"""The search for values of all variables: decide, draw what follows, learn from what is wrong.

Kernels for `checkers.engines.repeated.cdcl.cdcl`: conflict-driven clause learning as in
Marques-Silva and Sakallah, "GRASP" (1996), with the watched literals and the weights of Moskewicz
et al., "Chaff: engineering an efficient SAT solver" (2001), and clauses made shorter as by Eén and
Sörensson, "An extensible SAT-solver" (2003), whose way with rules that are no clauses this is. It
goes back by one decision where what it learned follows from much earlier ones: Nadel and Ryvchin,
"Chronological backtracking" (2018).
"""

from typing import Final

from kraftproof.checkers.engines.repeated.cdcl.problem import Problem
from kraftproof.checkers.engines.repeated.cdcl.rules import because, draw
from kraftproof.checkers.engines.repeated.cdcl.state import (
    CLAUSE,
    CLAUSES,
    CONFLICTS,
    DECIDED,
    END,
    HEAD,
    LEVEL,
    LITERALS,
    NOTHING_WRONG,
    SIZE,
    WORK,
    WRONG,
    WRONG_KIND,
    WRONG_WHY,
    State,
    back_to,
    hold,
    level_of,
    weigh,
    weightiest,
)
from kraftproof.checkers.engines.repeated.layout import Narrow
from kraftproof.checkers.kernels import bare_kernel

FOUND: Final = 1
NONE_THERE: Final = -1
STOPPED: Final = 0

_FAR: Final = 100
"""Over so many levels it does not go back, where that is not needed."""


@bare_kernel
def search(problem: Problem, state: State, conflicts: int, work: int) -> int:
    """Goes on until an order is FOUND, NONE_THERE, or STOPPED by so many conflicts or so much work.

    Where it stops nothing is decided, and what it has learned is kept.
    """
    at = state.at
    last = at[CONFLICTS] + conflicts
    while True:
        if not _propagate(problem, state):
            at[CONFLICTS] += 1
            level = _conflict(problem, state)
            if level == 0:
                return NONE_THERE
            _learn(state, _analyse(problem, state, level), level)
        elif at[CONFLICTS] >= last or at[WORK] >= work or not has_room(state):
            back_to(state, 0)
            return STOPPED
        else:
            variable = weightiest(problem, state)
            if variable < 0:
                return FOUND
            at[LEVEL] += 1
            state.marks[at[LEVEL]] = at[SIZE]
            hold(state, 2 * variable + state.phase[variable], DECIDED, 0, at[LEVEL])


@bare_kernel
def has_room(state: State) -> bool:
    """Says whether another clause can be learned."""
    at = state.at
    fits = at[LITERALS] + len(state.level) <= len(state.literals)
    return bool(fits and at[CLAUSES] + 1 < len(state.starts))


@bare_kernel
def add_clause(state: State, first: int, end: int, source: Narrow) -> None:
    """Adds a clause, some literals of an array; the first two are watched."""
    at = state.at
    clause = at[CLAUSES]
    state.starts[clause] = at[LITERALS]
    for place in range(first, end):
        state.literals[at[LITERALS]] = source[place]
        at[LITERALS] += 1
    at[CLAUSES] += 1
    state.starts[clause + 1] = at[LITERALS]
    for side in range(2):
        literal = source[first + side]
        state.following[2 * clause + side] = state.watched[literal]
        state.watched[literal] = 2 * clause + side


@bare_kernel
def _propagate(problem: Problem, state: State) -> bool:
    """Draws all consequences of what is held true; says whether nothing is wrong."""
    at = state.at
    at[WRONG] = NOTHING_WRONG
    while at[HEAD] < at[SIZE] and at[WRONG] == NOTHING_WRONG:
        literal = state.trail[at[HEAD]]
        at[HEAD] += 1
        _visit(state, literal ^ 1)
        if at[WRONG] == NOTHING_WRONG:
            draw(problem, state, literal)
    return bool(at[WRONG] == NOTHING_WRONG)


@bare_kernel
def _visit(state: State, literal: int) -> None:
    """Looks at the clauses that watch a literal which is false now."""
    value, following, literals = state.value, state.following, state.literals
    link = state.watched[literal]
    state.watched[literal] = END
    while link != END:
        after = following[link]
        clause, side = link >> 1, link & 1
        first = state.starts[clause]
        state.at[WORK] += 1
        other = literals[first + 1 - side]
        watching = first + side
        if value[other] <= 0 and state.at[WRONG] == NOTHING_WRONG:
            place = first + 2
            while place < state.starts[clause + 1] and value[literals[place]] < 0:
                place += 1
            state.at[WORK] += (place - first) >> 2
            watching = place
            if place == state.starts[clause + 1]:
                # All are false but the other one: of these the one that is taken back first.
                watching = _latest(state, clause, first + 1 - side)
                hold(state, other, CLAUSE, clause, level_of(state, literals[watching]))
        literals[first + side], literals[watching] = literals[watching], literal
        now = literals[first + side]
        following[link], state.watched[now] = state.watched[now], link
        link = after


@bare_kernel
def _latest(state: State, clause: int, but: int) -> int:
    """Returns the place of the literal of a clause, but one, with the highest level."""
    first, end = state.starts[clause], state.starts[clause + 1]
    latest = first if but != first else first + 1
    for place in range(latest + 1, end):
        level = level_of(state, state.literals[place])
        if place != but and level > level_of(state, state.literals[latest]):
            latest = place
    return int(latest)


@bare_kernel
def _conflict(problem: Problem, state: State) -> int:
    """Returns the last level of what is wrong."""
    at = state.at
    level = level_of(state, at[WRONG])
    for told in state.because[: because(problem, state, at[WRONG], at[WRONG_KIND], at[WRONG_WHY])]:
        level = max(level, level_of(state, told))
    return int(level)


@bare_kernel
def _analyse(problem: Problem, state: State, level: int) -> int:
    """Puts into `state.learned` a clause that would have shown it earlier; returns its length.

    Its first literal, of this level, follows from the others, of which the second has the highest.
    """
    at, learned = state.at, state.learned
    count, waiting, place = 1, 0, at[SIZE]
    many = because(problem, state, at[WRONG], at[WRONG_KIND], at[WRONG_WHY])
    state.because[many] = at[WRONG] ^ 1
    many += 1
    while True:
        for number in range(many):
            literal = state.because[number]
            variable = literal >> 1
            if state.seen[variable] == 0 and state.level[variable] > 0:
                state.seen[variable] = 1
                weigh(state, variable)
                if state.level[variable] == level:
                    waiting += 1
                else:
                    learned[count] = literal ^ 1
                    count += 1
        place -= 1
        literal = state.trail[place]
        while state.seen[literal >> 1] == 0 or level_of(state, literal) != level:
            place -= 1
            literal = state.trail[place]
        state.seen[literal >> 1] = 0
        waiting -= 1
        if waiting == 0:
            break
        many = because(problem, state, literal, state.kind[literal >> 1], state.why[literal >> 1])
    learned[0] = literal ^ 1
    return _shortened(problem, state, count)


@bare_kernel
def _shortened(problem: Problem, state: State, count: int) -> int:
    """Drops literals that follow from others of the clause; returns how many are left."""
    learned, kept = state.learned, 1
    for number in range(1, count):
        variable = learned[number] >> 1
        is_needed = state.kind[variable] == DECIDED
        if not is_needed:
            many = because(
                problem, state, learned[number] ^ 1, state.kind[variable], state.why[variable]
            )
            for told in state.because[:many]:
                if state.seen[told >> 1] == 0 and state.level[told >> 1] > 0:
                    is_needed = True
        # Those dropped go to the end, for their marks.
        if is_needed:
            learned[kept], learned[number] = learned[number], learned[kept]
            kept += 1
    for number in range(1, count):
        state.seen[learned[number] >> 1] = 0
    for number in range(2, kept):
        if state.level[learned[number] >> 1] > state.level[learned[1] >> 1]:
            learned[1], learned[number] = learned[number], learned[1]
    return kept


@bare_kernel
def _learn(state: State, count: int, level: int) -> None:
    """Goes back, no further than needs be if that is far, and holds true what was learned."""
    learned = state.learned
    follows = level_of(state, learned[1]) if count > 1 else 0
    back_to(state, level - 1 if level - follows > _FAR else follows)
    if count == 1:
        hold(state, learned[0], DECIDED, 0, 0)
    else:
        add_clause(state, 0, count, learned)
        hold(state, learned[0], CLAUSE, state.at[CLAUSES] - 1, follows)
