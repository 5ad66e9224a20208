"""What is expected of a stack by the calls that follow, and what a search finds by it."""

import numpy as np
import pytest

from kraftproof.checkers.engines.repeated.stack.layout import calls_of as searched
from kraftproof.checkers.engines.repeated.stack.lookahead import GROUPS, ahead_of, oddness
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.engines.repeated.stack.test_stack_repeated import generated
from tests.support.checkers.columnar import calls_of, history
from tests.support.checkers.engines import ENGINES

ONE_BY_ONE = [("push", n, None, 2 * at, 2 * at + 1) for at, n in enumerate([1, 2, 3])]
POPPED = [("pop", None, n, 6 + 2 * at, 7 + 2 * at) for at, n in enumerate([3, 2, 1])]


def expected(*calls):
    found = calls_of("stack", history(*calls))
    known = searched(found, 0, len(found))
    return ahead_of(known.action, known.element, known.invoke, known.complete, known.levels)


def odd(ahead, level, *elements, net=()):
    """How odd it is that the last of some elements comes to lie on the others."""
    counts, nets = np.zeros((2, GROUPS), dtype=np.int64)
    for element in elements:
        counts[element] += 1
    for element in net:
        nets[element] += 1
    return oddness(ahead, level, nets, counts, elements[-1])


def test_the_height_is_known_at_any_time():
    ahead = expected(*ONE_BY_ONE, *POPPED)
    assert ahead.height[ahead.moment].tolist() == [1, 2, 3, 2, 1, 0]
    assert ahead.inside[5].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    lost = expected(*ONE_BY_ONE, ("push", 4, None, 6, None), ("pop", None, None, 7, None))
    assert lost.height[lost.moment].tolist() == [1, 2, 3]
    over = expected(("push", 1, None, 0, 4), ("push", 2, None, 1, 2), ("pop", None, 2, 3, 5))
    assert over.height.tolist() == pytest.approx([0, 0.25, 1.5, 1.75, 1.5, 1, 1])


def test_another_order_than_the_takes_ask_for_is_odd():
    ahead = expected(*ONE_BY_ONE, *POPPED)
    assert odd(ahead, 2, 0, 1, 2) < odd(ahead, 2, 0, 2, 1) - 0.5
    assert odd(ahead, 1, 0, 1) < odd(ahead, 1, 1, 1) - 0.5


def test_what_lost_calls_did_is_taken_into_account():
    ahead = expected(*ONE_BY_ONE, *POPPED)
    assert odd(ahead, 1, 4, 0, 1, net=[4]) == odd(ahead, 1, 0, 1) < odd(ahead, 1, 4, 0, 1)


def test_of_what_stays_inside_nothing_is_known():
    ahead = expected(*ONE_BY_ONE)
    assert odd(ahead, 2, 0, 1, 2) == odd(ahead, 2, 2, 2, 2) > 0


@pytest.mark.parametrize(("lost", "seed"), [(0.0, 2), (0.0, 4), (0.05, 1), (0.05, 2)])
def test_long_valid_histories_are_decided(lost, seed):
    calls = generated(operations=10_000, indeterminate=lost, seed=seed)
    (outcome,) = ENGINES["stack-repeated"](calls, Limits(seconds=4.0))
    assert outcome is not None
    assert outcome.verdict is Verdict.VALID
