"""What counting shows of a container's calls: against counting by hand, and against the truth."""

from collections import Counter
from random import Random

import pytest

from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.history.operations import Operation
from tests.support.checkers import reference
from tests.support.checkers.columnar import calls_of, history
from tests.support.checkers.random_histories import draw_container, random_history

draw_few = draw_container("push", "pop", lambda elements: -1, values=3)


def counted(operations: list[Operation]) -> int:
    calls = calls_of("stack", operations)
    return short_at(calls.action, calls.element, calls.invoke, calls.complete)


def test_a_take_needs_a_put_that_had_begun():
    put, take = ("push", 1, None, 0, 3), ("pop", None, 1, 1, 2)
    assert counted(history(put, take)) == NEVER
    again = ("pop", None, 1, 4, 6)
    assert counted(history(put, take, again)) == 6
    assert counted(history(put, take, again, ("push", 1, None, 5, None))) == NEVER
    assert counted(history(put, take, again, ("push", 1, None, 7, 8))) == 6


def test_each_element_that_is_left_needs_a_take_of_its_own():
    puts = [("push", 1, None, 0, 1), ("push", 2, None, 2, 3)]
    lost, slow = ("pop", None, None, 4, None), ("push", 1, None, 5, 20)
    takes = [("pop", None, 1, 6, 7), ("pop", None, 1, 8, 9)]
    none, late = ("pop", None, None, 10, 11), ("pop", None, None, 12, None)
    assert counted(history(*puts, takes[0], none, late)) == 11
    assert counted(history(*puts, *takes, none)) == 9
    assert counted(history(*puts, slow, *takes, none, late)) == 11
    assert counted(history(*puts, lost, slow, *takes, none)) == NEVER
    again = ("push", 2, None, 4, 5)
    assert counted(history(*puts, again, *takes[:1], none)) == 11


@pytest.mark.parametrize("seed", range(3))
def test_it_counts_as_one_counts_by_hand_and_what_it_finds_is_wrong(seed):
    random, shown = Random(seed), 0
    for _ in range(200):
        operations = random_history(random, draw_few, reference.stack, random.randrange(1, 12), 4)
        found = counted(operations)
        assert found == by_hand(operations)
        if found != NEVER:
            shown += 1
            first_illegal = reference.find_first_illegal(reference.stack, operations)
            assert first_illegal is not None
            assert (first_illegal.complete_index or 0) <= found
    assert shown > 20


def by_hand(operations: list[Operation]) -> int:
    happened = [each for each in operations if each.status != "fail"]
    completed = sorted((o.complete_index or 0, o) for o in happened if o.status == "ok")
    for end, operation in completed:
        if operation.f == "pop" and is_short(operation, end, happened):
            return end
    return NEVER


def is_short(take: Operation, end: int, happened: list[Operation]) -> bool:
    over = [each for each in happened if each.status == "ok" and (each.complete_index or 0) <= end]
    begun = [each for each in happened if each.invoke_index < end]
    if take.output is not None:
        takes = sum(each.f == "pop" and each.output == take.output for each in over)
        return takes > sum(each.f == "push" and each.input == take.output for each in begun)
    before = [each for each in over if (each.complete_index or 0) < take.invoke_index]
    puts = Counter(each.input for each in before if each.f == "push")
    takes = Counter(e.output for e in begun if e.f == "pop" and e.status == "ok")
    lost = sum(each.f == "pop" and each.status != "ok" for each in begun)
    return sum((puts - takes).values()) > lost
