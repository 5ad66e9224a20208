"""No reduction turns a linearizable history invalid; what is called minimal is so.

On random small histories of every model that has a drawer, judged by trying every order.
"""

from collections.abc import Iterator
from math import inf
from random import Random

import pytest

from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.explain.reduction import reductions
from kraftproof.checkers.explain.reduction.minimise import minimise
from kraftproof.checkers.explain.reduction.readd_context import readd_context
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.explain.verify.budget import Budget
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.options import Limits
from tests.support.checkers.cases import CASES, drawn, sequential
from tests.support.checkers.reduced import beginning, reduced_once
from tests.support.long_cases import mostly_long
from tests.support.random_cases import is_long, random_cases

HISTORIES = random_cases(400, share=8)
NAMES = sorted(CASES)
SLOW = {"bank", "bank-overdraft"}
"""Many states; the other cases of transactions are quicker."""
QUICK = set(NAMES[::2]) - SLOW
"""Cases whose reduced histories `make test` searches, too."""
MOSTLY_LONG = mostly_long([(name, name) for name in NAMES], QUICK)


@pytest.mark.parametrize("name", NAMES)
def test_a_linearizable_history_stays_so(name):
    model, random = sequential(name), Random(f"sound {name}")
    reduced = 0
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 9))
        end = random.randrange(2 * len(operations) + 1)
        sub = reductions.prefix(model, operations, 1 << 60)
        if not is_linearizable(model, sub):
            continue
        sub = reductions.prefix(model, operations, end)
        done = [f"prefix {end}"]
        for _ in range(5):
            assert is_linearizable(model, sub), (done, operations, sub)
            further = reduced_once(random, model, sub)
            if further is not None:
                sub, reduced = further, reduced + (further != sub)
                done.append(repr(sub))
        assert is_linearizable(model, sub), (done, operations)
    assert reduced > HISTORIES / 10, "hardly anything was reduced"


@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_a_window_of_a_window_of_a_linearizable_history_is_linearizable(name):
    """What it may begin in may have been reached before the first."""
    model, random = sequential(name), Random(f"windows {name}")
    found = 0
    for _ in range(2 * HISTORIES):
        operations = drawn(random, name, range(3, 9))
        sub = reductions.prefix(model, operations, 1 << 60)
        if not is_linearizable(model, sub):
            continue
        events = sorted(random.choices(range(2 * len(operations)), k=2))
        first = reductions.window(model, sub, events[0])
        second = first and reductions.window(model, first, events[1])
        if second is not None:
            found += 1
            assert is_linearizable(model, second), (operations, first, second)
    assert found > HISTORIES / 10, "hardly any had two windows"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refuted_with_endless_calls_is_invalid(name):
    model, random = sequential(name), Random(f"endless {name}")
    refuted = invalid = 0
    for _ in range(HISTORIES):
        operations, whole = beginning(random, name)
        plan = plan_of(model, list(whole.entries))
        is_refuted = Budget(inf).is_refuted(model, plan, whole.starts)
        is_legal = is_linearizable(model, whole)
        assert not (is_refuted and is_legal), operations
        refuted, invalid = refuted + is_refuted, invalid + (is_legal is False)
    assert refuted > invalid / 2
    assert invalid > HISTORIES / 20


def is_possible_with_all_else(model: SequentialModel, whole: SubHistory, sub: SubHistory) -> bool:
    """Says whether something that was left out of a sub-history may make it possible."""
    ways = (reductions.tidied(model, one) for one in readd_context(model, whole, sub))
    return all(is_linearizable(model, one) is not False for one in ways)


def invalid_histories(
    random: Random, name: str, sizes: range, histories: int = HISTORIES
) -> Iterator[tuple[SubHistory, Operation]]:
    """Yields invalid histories up to the first completion that can't be, and whose that is."""
    model, found = sequential(name), 0
    for _ in range(histories):
        operations = drawn(random, name, sizes, range(2, 6))
        first_illegal = check_linearizable(model, operations, Limits()).first_illegal
        if first_illegal is not None:
            assert first_illegal.complete_index is not None
            found += 1
            yield reductions.prefix(model, operations, first_illegal.complete_index), first_illegal
    assert found > histories / 20, "hardly any history was invalid"


@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_nothing_that_was_left_out_makes_it_possible(name):
    model, random = sequential(name), Random(f"left out {name}")
    for whole, _ in invalid_histories(random, name, range(3, 9)):
        found = minimise(model, whole, 20.0).sub
        if not found.is_counted:
            assert not is_possible_with_all_else(model, whole, found), (whole, found)


def single_reductions(model: SequentialModel, sub: SubHistory) -> list[SubHistory]:
    """Everything that one more reduction of one call would leave."""
    found = []
    for place, entry in enumerate(sub.entries):
        if entry.is_required and model.is_pure(entry.call):
            found.append(reductions.dropped(model, sub, [place]))
        if entry.is_required:
            found.append(reductions.optional(model, sub, [place]))
        weaker = reductions.weaker_calls(model, entry.call)
        found += [reductions.weakened(model, sub, [place], choice) for choice in range(len(weaker))]
    return found


@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_what_is_called_minimal_is_invalid_and_minimal(name):
    model, random = sequential(name), Random(f"minimal {name}")
    histories = HISTORIES if is_long() else HISTORIES // 4
    for whole, first_illegal in invalid_histories(random, name, range(3, 14), histories):
        found = minimise(model, whole, 20.0)
        assert found.is_invalid
        assert found.is_minimal
        assert is_linearizable(model, found.sub) is False, (whole, found)
        assert first_illegal.index in {one.operation.index for one in found.sub.entries}
        for smaller in single_reductions(model, found.sub):
            assert is_linearizable(model, smaller), (whole, found, smaller)
