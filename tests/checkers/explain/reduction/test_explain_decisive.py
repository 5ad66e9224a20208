"""Values that show it are found in as many steps as they need, not as many as the history has."""

import tracemalloc
from math import inf

import pytest
from typing_extensions import override

from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.linearization.linearization import longest_linearization
from kraftproof.checkers.explain.reduction import minimise
from kraftproof.checkers.explain.reduction.deciding import Deciding
from kraftproof.checkers.explain.reduction.reductions import prefix, until
from kraftproof.checkers.explain.reduction.relevant_values import relevant_values
from kraftproof.checkers.explain.verify.budget import Budget
from kraftproof.checkers.models.list_append import ListAppend
from kraftproof.checkers.models.sets import Set
from kraftproof.checkers.text import without_middle
from tests.support.checkers.columnar import history

APPENDS = 20
ADDS = 4_000


class Counting(Set):
    """Counts its steps."""

    steps = 0

    @override
    def step(self, state, call):
        self.steps += 1
        return super().step(state, call)


def first_decisive(model, operations):
    """The first values found, of the last operation, and the order that comes before it."""
    end = operations[-1].complete_index
    whole = prefix(model, operations, end)
    order = longest_linearization(model, until(model, whole, end - 1), 10)
    assert order is not None
    return relevant_values(model, order, whole)


@pytest.mark.parametrize(
    ("swapped", "missing", "shown"),
    [
        ((), {3}, {"3"}),
        ((5, 6), set(), {"5", "6"}),
        ((), {0}, {"0"}),
        ((18, 19), set(), {"18", "19"}),
    ],
)
def test_an_append_beside_a_read_does_not_hide_what_the_read_has_wrong(swapped, missing, shown):
    """It saw one that is still open, and not one that was over before it was itself."""
    seen = [one for one in range(APPENDS) if one not in missing]
    if swapped:
        left, right = map(seen.index, swapped)
        seen[left], seen[right] = seen[right], seen[left]
    over = 2 * APPENDS
    operations = history(
        *(("append", n, n, 2 * n, 2 * n + 1) for n in range(APPENDS)),
        ("append", "open", None, over, None),
        ("append", "beside", "beside", over + 1, over + 3),
        ("read", None, [*seen, "open"], over + 2, over + 4),
    )
    found = first_decisive(ListAppend(), operations)
    assert {value for _, value in next(found)} == shown


def test_what_a_read_lacks_comes_with_one_that_it_has():
    """If puts may have done away with it, they did so with what was there before it, too."""
    seen = [one for one in range(APPENDS) if one != 7]
    operations = history(
        *(("append", n, n, 2 * n, 2 * n + 1) for n in range(APPENDS)),
        ("read", None, seen, 2 * APPENDS, 2 * APPENDS + 1),
    )
    alone, both, *_ = first_decisive(ListAppend(), operations)
    assert {value for _, value in alone} == {"7"}
    assert {value for _, value in both} == {"0", "7"}


def lost_add(size=ADDS):
    """A set to which much is added, one after the other, and what was added is not found."""
    adds = (("add", n, n, 2 * n, 2 * n + 1) for n in range(size))
    return history(*adds, ("contains", 7, False, 2 * size, 2 * size + 1))


def test_a_value_that_alone_shows_it_takes_a_few_steps():
    model = Counting()
    found = first_decisive(model, lost_add())
    model.steps = 0
    assert len(next(found)) == 1
    assert model.steps < 10


@pytest.mark.long
def test_states_as_long_as_the_history_are_not_kept():
    """Of 4,000 sets the last has 4,000 elements: together they take more than 60 MB."""
    tracemalloc.start()
    try:
        found = explain(Set(), "k", lost_add(), ADDS)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 30_000_000
    assert found.linearization is not None
    assert found.sub_history is not None
    assert found.sub_history.is_minimal


@pytest.mark.parametrize("size", [0, 1, 80, 81, 500])
def test_a_long_state_is_told_as_if_it_were_told_whole(size):
    state = tuple(map(str, range(size)))
    assert without_middle(Set().describe(state)) == without_middle(f"set {{{', '.join(state)}}}")


class Questions:
    """A budget of so many questions for the time, in place of the time."""

    def __init__(self, left):
        self.left, self.unbounded = left, Budget(inf)

    def has_time(self):
        self.left -= 1
        return self.left >= 0

    def __getattr__(self, name):
        return getattr(self.unbounded, name)


def test_what_was_found_invalid_stands_when_the_time_is_over(monkeypatch):
    decided = []
    is_invalid = Deciding.is_invalid

    def noted(self, sub):
        decided.append(is_invalid(self, sub))
        return decided[-1]

    monkeypatch.setattr(Deciding, "is_invalid", noted)
    whole = prefix(Set(), lost_add(30), 61)
    cut_short = 0
    for questions in range(40):
        decided.clear()
        budgets = iter([Questions(0), Questions(questions)])
        monkeypatch.setattr(minimise, "Budget", lambda _, budgets=budgets: next(budgets))
        found = minimise.minimise(Set(), whole, 1)
        assert found.is_invalid == any(decided)
        cut_short += found.is_invalid and not found.is_minimal
    assert cut_short
    assert found.is_minimal
