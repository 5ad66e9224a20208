"""Where it is not decided what came before, as much of a linearization is told as was found."""

from collections.abc import Sequence

import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.linearization.longest_prefix import longest_prefix
from kraftproof.checkers.explain.reduction.reductions import prefix
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.refute import refute
from tests.support.checkers.cases import sequential

OPTIONS = GenerateOptions(
    model="stack", operations=10_000, concurrency=20, values=5, corrupt="phantom", seed=1
)
"""An order of it is not found in seconds."""
STACK = sequential("stack")


def require_linearization(
    operations: Sequence[Operation], indices: Sequence[int], completed: int
) -> None:
    """Fails if an order is not legal, not one in real time, or lacks what completed first."""
    recorded = {one.index: one for one in operations}
    calls = {one.operation.index: one.call for one in prefix(STACK, operations, 1 << 60).entries}
    state, begun = STACK.init(), -1
    for index in indices:
        end = recorded[index].complete_index
        assert end is None or end > begun, "it was over before one of those before it began"
        state, begun = STACK.step(state, calls[index]), max(begun, recorded[index].invoke_index)
        assert state is not None
    ended = {one.complete_index: one.index for one in operations if one.complete_index is not None}
    assert {ended[end] for end in sorted(ended)[:completed]} <= set(indices)


@pytest.mark.long
def test_the_explanation_tells_how_far_an_order_is_known():
    operations = columns_of(generated_table(OPTIONS)).operations(0)
    outcome = refute(STACK, operations)
    assert outcome is not None
    assert outcome.first_illegal_row is not None
    first_illegal = operations[outcome.first_illegal_row].index
    found = explain(STACK, "0", operations, first_illegal, seconds=2.0, is_first=False)
    assert found.linearized is not None
    assert 0 < found.linearized < found.linearizable
    assert not found.is_first
    assert f"was not decided (the first {found.linearized} have one)" in found.words
    assert found.linearization is not None
    require_linearization(operations, [one.index for one in found.linearization], found.linearized)


@pytest.mark.long
def test_prefixes_are_halved_until_one_has_an_order():
    operations = columns_of(generated_table(OPTIONS)).operations(0)
    before = prefix(STACK, operations, 1_200)
    asked = []

    def proposed(end: int, seconds: float) -> None:
        asked.append((end, seconds))

    known = longest_prefix(STACK, before, 6.0, proposed)
    assert known is not None
    assert 0 < known.completed < sum(entry.is_required for entry in before.entries)
    indices = [one.operation.index for one in known.order]
    require_linearization(operations, indices, known.completed)
    assert [seconds for _, seconds in asked] == [1.0] * len(asked)
    assert longest_prefix(STACK, prefix(STACK, operations, 3), 6.0, proposed) is None
