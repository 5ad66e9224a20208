"""Lost takes beyond the elements that are left for them do nothing, and are left out."""

from random import Random

import pytest

from kraftproof.checkers.explain.reduction.reductions import prefix, window
from kraftproof.checkers.explain.reduction.unmatched_takes import without_unmatched_takes
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from tests.support.checkers.cases import drawn, sequential
from tests.support.checkers.columnar import history

HISTORIES = 600
LOST = ("take", None)


def lost_in(sub: SubHistory) -> list[int]:
    """When the lost takes of a sub-history were invoked."""
    return [one.operation.invoke_index for one in sub.entries if one.call == LOST]


@pytest.mark.parametrize("name", ["queue", "stack", "priority-queue"])
def test_what_is_legal_stays_so_and_what_is_not_too(name):
    model, random = sequential(name), Random(f"spares {name}")
    fewer = {True: 0, False: 0}
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 9))
        whole = prefix(model, operations, random.randrange(2 * len(operations) + 1))
        later = window(model, whole, random.randrange(len(operations)))
        for sub in [whole] if later is None else [whole, later]:
            left, is_legal = without_unmatched_takes(model, sub), is_linearizable(model, sub)
            assert is_linearizable(model, left) == is_legal, (operations, sub)
            if left != sub:
                assert is_legal is not None
                fewer[is_legal] += 1
    assert fewer[True] > HISTORIES / 20
    assert fewer[False]


def test_as_many_are_left_as_elements_that_no_other_take_needs():
    lost = [("dequeue", None, None, begin, None) for begin in range(5)]
    puts = [("enqueue", each, each, 5 + 2 * each, 6 + 2 * each) for each in range(3)]
    whole = prefix(sequential("queue"), history(*lost, *puts, ("dequeue", None, 1, 11, 12)), 12)
    assert lost_in(without_unmatched_takes(sequential("queue"), whole)) == [0, 1]


def test_an_element_may_have_been_put_by_a_lost_put():
    lost = [("dequeue", None, None, begin, None) for begin in range(2)]
    whole = prefix(sequential("queue"), history(*lost, ("enqueue", 1, None, 2, None)), 12)
    assert lost_in(without_unmatched_takes(sequential("queue"), whole)) == [0]


def test_what_is_inside_at_first_counts():
    model = sequential("stack")
    whole = prefix(model, history(*(("pop", None, None, begin, None) for begin in range(4))), 9)
    within = SubHistory(entries=whole.entries, starts=((), ("1", "2")))
    assert lost_in(without_unmatched_takes(model, whole)) == []
    assert lost_in(without_unmatched_takes(model, within)) == [0, 1]
