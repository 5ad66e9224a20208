"""No reduction turns a linearizable history invalid; what is called minimal is so.

On random small histories of every model that has a drawer, judged by trying every order.
"""

from math import inf
from random import Random

import pytest

from checkers.engines.general import check_linearizable
from checkers.engines.plan import plan_of
from checkers.explain import reductions
from checkers.explain.brute_force import is_linearizable
from checkers.explain.budget import Budget
from checkers.explain.minimise import minimise
from checkers.explain.put_back import put_back
from checkers.explain.subhistory import SubHistory
from checkers.models import SequentialModel
from checkers.options import Limits
from checkers.verdict import Verdict
from tests.checkers.cases import CASES, drawn, sequential
from tests.checkers.reduced import beginning, reduced_once

HISTORIES = 200
NAMES = sorted(CASES)


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


@pytest.mark.parametrize("name", NAMES)
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
    return all(is_linearizable(model, one) is not False for one in put_back(model, whole, sub))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_was_left_out_makes_it_possible(name):
    model, random = sequential(name), Random(f"left out {name}")
    invalid = 0
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 9), range(2, 5))
        outcome = check_linearizable(model, operations, Limits())
        if outcome.verdict is not Verdict.INVALID:
            continue
        whole = reductions.prefix(model, operations, outcome.stuck.complete_index)
        found = minimise(model, whole, 20.0).sub
        if found.surplus or found.total or found.balance:
            continue
        invalid += 1
        assert not is_possible_with_all_else(model, whole, found), (operations, found)
    assert invalid > HISTORIES / 40, "hardly any history was invalid"


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


@pytest.mark.parametrize("name", NAMES)
def test_what_is_called_minimal_is_invalid_and_minimal(name):
    model, random = sequential(name), Random(f"minimal {name}")
    invalid = 0
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 14), range(2, 6))
        outcome = check_linearizable(model, operations, Limits())
        if outcome.verdict is not Verdict.INVALID:
            continue
        assert outcome.stuck is not None
        assert outcome.stuck.complete_index is not None
        invalid += 1
        whole = reductions.prefix(model, operations, outcome.stuck.complete_index)
        found = minimise(model, whole, 20.0)
        assert found.is_invalid
        assert found.is_minimal
        assert is_linearizable(model, found.sub) is False, (operations, found)
        assert outcome.stuck.index in {one.operation.index for one in found.sub.entries}
        for smaller in single_reductions(model, found.sub):
            is_possible = is_linearizable(model, smaller)
            is_possible = is_possible or is_possible_with_all_else(model, whole, smaller)
            assert is_possible, (operations, found, smaller)
    assert invalid > HISTORIES / 20, "hardly any history was invalid"
