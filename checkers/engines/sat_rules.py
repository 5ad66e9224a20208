"""What follows from a literal by what the calls are: of two that are ordered, of a source.

For `checkers.engines.sat`: the rules that are not told as clauses, since there are too many, but
looked up when one of their literals comes true. And back: from which literals one follows.
"""

from checkers.engines.beam_layout import NONE
from checkers.engines.sat_problem import ORDER, Problem, before
from checkers.engines.sat_state import (
    BETWEEN,
    CLAUSE,
    DECIDED,
    NOTHING_WRONG,
    SOURCE,
    WORK,
    WRONG,
    State,
    hold,
)
from checkers.kernels import bare_kernel


@bare_kernel
def draw(problem: Problem, state: State, literal: int) -> None:
    """Holds true what follows from a literal by the rules, up to what is wrong."""
    variable = literal >> 1
    one, other = problem.one[variable], problem.other[variable]
    if problem.register[variable] == ORDER:
        if literal & 1:
            one, other = other, one
        _ordered(problem, state, one, other)
        if state.at[WRONG] == NOTHING_WRONG:
            _moved(problem, state, one, other)
    elif problem.register[variable] >= 0 and literal & 1 == 0:
        _sourced(problem, state, variable)


@bare_kernel
def _ordered(problem: Problem, state: State, one: int, other: int) -> None:
    """Of three calls none comes before itself: what comes before one comes before the other."""
    value, starts, meets = state.value, problem.meets_starts, problem.meets
    state.at[WORK] += starts[one + 1] - starts[one] + starts[other + 1] - starts[other]
    for call in meets[starts[one] : starts[one + 1]]:
        if call != other and value[before(problem, other, call)] > 0:
            told = before(problem, one, call)
            if value[told] <= 0:
                hold(state, told, BETWEEN, other)
    for call in meets[starts[other] : starts[other + 1]]:
        if call != one and value[before(problem, call, one)] > 0:
            told = before(problem, call, other)
            if value[told] <= 0:
                hold(state, told, BETWEEN, one)


@bare_kernel
def _moved(problem: Problem, state: State, one: int, other: int) -> None:
    """Looks at all pairs of a source and what has it that two ordered calls may be between."""
    first, end = problem.source_starts[one], problem.source_starts[one + 1]
    for variable in problem.sources[first:end]:
        _keep_out(problem, state, variable, other)
    begin, last = problem.sink_starts[other], problem.sink_starts[other + 1]
    for variable in problem.sinks[begin:last]:
        _keep_out(problem, state, variable, one)
    state.at[WORK] += end - first + last - begin


@bare_kernel
def _sourced(problem: Problem, state: State, variable: int) -> None:
    """A source comes before what has it, and no other call between them."""
    register = problem.register[variable]
    told = before(problem, problem.one[variable], problem.other[variable])
    hold(state, told, SOURCE, variable)
    first, end = problem.leaver_starts[register], problem.leaver_starts[register + 1]
    for call in problem.leavers[first:end]:
        _keep_out(problem, state, variable, call)
    state.at[WORK] += end - first


@bare_kernel
def _keep_out(problem: Problem, state: State, variable: int, call: int) -> None:
    """No call that leaves another value comes between a source and what has it."""
    source, sink = problem.one[variable], problem.other[variable]
    if call in (source, sink) or not _replaces(problem, variable, call):
        return
    value = state.value
    after, until = before(problem, source, call), before(problem, call, sink)
    if value[2 * variable] > 0:
        # What time has settled has no reason; that both are settled was ruled out before.
        if value[after] > 0 and until > 1:
            hold(state, until ^ 1, SOURCE, variable)
        elif value[until] > 0 and after > 1:
            hold(state, after ^ 1, SOURCE, variable)
    elif value[2 * variable] == 0 and value[after] > 0 and value[until] > 0:
        hold(state, 2 * variable + 1, BETWEEN, call)


@bare_kernel
def _replaces(problem: Problem, variable: int, call: int) -> bool:
    """Says whether a call leaves another value than what a source left."""
    register = problem.register[variable]
    left = problem.leave[call, register]
    found = problem.find[problem.other[variable], register]
    return bool(left != NONE and left != found)  # noqa: PLR1714 numba has no such tuples


@bare_kernel
def because(problem: Problem, state: State, literal: int, kind: int, why: int) -> int:
    """Puts into `state.because` the literals from which one follows; returns how many."""
    told, count = state.because, 0
    if kind == DECIDED:
        return 0
    if kind == CLAUSE:
        for place in range(state.starts[why], state.starts[why + 1]):
            if state.literals[place] != literal:
                told[count] = state.literals[place] ^ 1
                count += 1
        return count
    one, other = problem.one[literal >> 1], problem.other[literal >> 1]
    if kind == BETWEEN:
        if problem.register[literal >> 1] == ORDER and literal & 1:
            one, other = other, one
        told[0], told[1] = before(problem, one, why), before(problem, why, other)
        return 2
    if literal & 1:
        one, other = other, one
    source, sink = problem.one[why], problem.other[why]
    told[0] = 2 * why
    if one == source and other == sink:
        return 1
    told[1] = before(problem, source, other) if one == sink else before(problem, one, sink)
    return 2
