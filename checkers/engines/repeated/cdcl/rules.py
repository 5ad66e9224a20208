"""What follows from a literal by what the calls are: of two that are ordered, of a source.

For `checkers.engines.repeated.cdcl.cdcl`: the rules that are not told as clauses, since there are
too many, but looked up when one of their literals comes true. And back: from which literals one
follows.
"""

from kraftproof.checkers.engines.repeated.cdcl.problem import AT_FIRST, ORDER, Problem, before
from kraftproof.checkers.engines.repeated.cdcl.state import (
    BETWEEN,
    CLAUSE,
    DECIDED,
    NOTHING_WRONG,
    SOURCE,
    WORK,
    WRONG,
    State,
    hold,
    is_used,
    level_of,
    queue,
)
from kraftproof.checkers.engines.repeated.layout import NONE
from kraftproof.checkers.kernels import bare_kernel


@bare_kernel
def draw(problem: Problem, state: State, literal: int) -> None:
    """Holds true what follows from a literal by the rules, up to what is wrong."""
    variable = literal >> 1
    one, other = problem.one[variable], problem.other[variable]
    if problem.register[variable] == ORDER:
        if literal & 1:
            one, other = other, one
        if is_used(problem, state, one) and is_used(problem, state, other):
            if not _is_by_time(problem, state, variable, one, other):
                _ordered(problem, state, one, other)
            if state.at[WRONG] == NOTHING_WRONG:
                _moved(problem, state, one, other)
    elif literal & 1 == 0:
        if problem.register[variable] >= 0:
            _sourced(problem, state, variable)
        elif one != NONE:
            _used(problem, state, one)


@bare_kernel
def _is_by_time(problem: Problem, state: State, variable: int, one: int, other: int) -> bool:
    """Says whether two calls are ordered by way of one that time orders with one of them.

    What follows from their order follows without it then: of a, b and c, where time orders b and
    c, all that comes before a comes before b, and what comes after c comes after b, so after a.
    """
    if state.kind[variable] != BETWEEN:
        return False
    call = state.why[variable]
    return bool(before(problem, one, call) == 0 or before(problem, call, other) == 0)


@bare_kernel
def _ordered(problem: Problem, state: State, one: int, other: int) -> None:
    """Of three calls none comes before itself: what comes before one comes before the other."""
    value, starts = state.value, problem.meets_starts
    fewer = one if starts[one + 1] - starts[one] < starts[other + 1] - starts[other] else other
    state.at[WORK] += starts[fewer + 1] - starts[fewer]
    for call in problem.meets[starts[fewer] : starts[fewer + 1]]:
        if call not in (one, other) and is_used(problem, state, call):
            before_one, after_one = before(problem, call, one), before(problem, one, call)
            before_other, after_other = before(problem, call, other), before(problem, other, call)
            # What time has settled is left to the two below: a literal that follows has a reason.
            if value[before_one] > 0 and value[before_other] <= 0 and before_other > 1:
                _follows(problem, state, before_other, BETWEEN, one)
            if value[after_other] > 0 and value[after_one] <= 0 and after_one > 1:
                _follows(problem, state, after_one, BETWEEN, other)
    _put_after(problem, state, one, other)
    if other < one:
        _put_before(problem, state, one, other)


@bare_kernel
def _put_after(problem: Problem, state: State, one: int, other: int) -> None:
    """One comes before what was invoked when the other was over, as far as that is not known."""
    call, end = problem.later[other], problem.later[one]
    while call < end:
        state.at[WORK] += 1
        if is_used(problem, state, call):
            told = before(problem, one, call)
            if state.value[told] > 0:
                end = min(end, problem.later[call])
            else:
                _follows(problem, state, told, BETWEEN, other)
        call += 1


@bare_kernel
def _put_before(problem: Problem, state: State, one: int, other: int) -> None:
    """What was over when one was invoked comes before the other, as far as that is not known."""
    call, since = one - 1, other
    while call >= 0 and problem.reach[call] > since:
        state.at[WORK] += 1
        is_over = other < problem.later[call] <= one
        if is_over and call != other and is_used(problem, state, call):
            told = before(problem, call, other)
            if state.value[told] > 0:
                since = max(since, call)
            else:
                _follows(problem, state, told, BETWEEN, one)
        call -= 1


@bare_kernel
def _used(problem: Problem, state: State, call: int) -> None:
    """A call that is used has its place among the others: what was not looked up is so now."""
    value, starts, meets = state.value, problem.meets_starts, problem.meets
    state.at[WORK] += starts[call + 1] - starts[call] + len(problem.one) - problem.first_source
    for other in meets[starts[call] : starts[call + 1]]:
        told = before(problem, call, other)
        queue(state, told >> 1)
        if not is_used(problem, state, other):
            continue
        if value[told] > 0:
            _ordered(problem, state, call, other)
            _moved(problem, state, call, other)
        elif value[told] < 0:
            _ordered(problem, state, other, call)
            _moved(problem, state, other, call)
        elif other < call:
            _place(problem, state, other, call)
    for variable in range(problem.first_source, len(problem.one)):
        register = problem.register[variable]
        if value[2 * variable] > 0 and register >= 0 and problem.leave[call, register] != NONE:
            _keep_out(problem, state, variable, call)


@bare_kernel
def _place(problem: Problem, state: State, one: int, call: int) -> None:
    """Puts one before a call if it comes before what was over when that was invoked."""
    other, since = call - 1, -1
    while other >= 0 and problem.reach[other] > since:
        state.at[WORK] += 1
        if problem.later[other] <= call and is_used(problem, state, other):
            since = max(since, other)
            if other != one and state.value[before(problem, one, other)] > 0:
                _follows(problem, state, before(problem, one, call), BETWEEN, other)
                return
        other -= 1


@bare_kernel
def _moved(problem: Problem, state: State, one: int, other: int) -> None:
    """Looks at all pairs of a source and what has it that two ordered calls may be between."""
    find, leave = problem.find, problem.leave
    registers = find.shape[1]
    for register in range(registers):
        left, over = leave[one, register], leave[other, register]
        if left == NONE:
            continue
        if NONE != over != left:
            place = one * registers + register
            first, end = problem.source_starts[place], problem.source_starts[place + 1]
            state.at[WORK] += end - first
            for variable in problem.sources[first:end]:
                _keep_out(problem, state, variable, other)
        if NONE != find[other, register] != left:
            place = other * registers + register
            first, end = problem.sink_starts[place], problem.sink_starts[place + 1]
            state.at[WORK] += end - first
            for variable in problem.sinks[first:end]:
                _keep_out(problem, state, variable, one)


@bare_kernel
def _sourced(problem: Problem, state: State, variable: int) -> None:
    """A source comes before what has it, and no other call between them."""
    source, sink = problem.one[variable], problem.other[variable]
    register = problem.register[variable]
    _follows(problem, state, before(problem, source, sink), SOURCE, variable)
    first = 0 if source == AT_FIRST else problem.since[source]
    end = problem.later[sink]
    for call in range(first, end):
        if problem.leave[call, register] != NONE and is_used(problem, state, call):
            _keep_out(problem, state, variable, call)
    for call in problem.unsure:
        if call < first and is_used(problem, state, call):
            _keep_out(problem, state, variable, call)
    state.at[WORK] += end - first + len(problem.unsure)


@bare_kernel
def _keep_out(problem: Problem, state: State, variable: int, call: int) -> None:
    """No call that leaves another value comes between a source and what has it."""
    value = state.value
    is_source = value[2 * variable]
    left = problem.leave[call, problem.register[variable]]
    if is_source < 0 or left == NONE or left == problem.told[variable]:
        return
    source, sink = problem.one[variable], problem.other[variable]
    if call in (source, sink):
        return
    after, until = before(problem, source, call), before(problem, call, sink)
    if is_source > 0:
        # What time has settled has no reason; that both are settled was ruled out before.
        if value[after] > 0 and until > 1:
            _follows(problem, state, until ^ 1, SOURCE, variable)
        elif value[until] > 0 and after > 1:
            _follows(problem, state, after ^ 1, SOURCE, variable)
    elif value[after] > 0 and value[until] > 0:
        _follows(problem, state, 2 * variable + 1, BETWEEN, call)


@bare_kernel
def _follows(problem: Problem, state: State, literal: int, kind: int, why: int) -> None:
    """Holds a literal true that follows by a rule."""
    level = 0
    if state.value[literal] == 0:
        for told in state.because[: because(problem, state, literal, kind, why)]:
            level = max(level, level_of(state, told))
    hold(state, literal, kind, why, level)


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
