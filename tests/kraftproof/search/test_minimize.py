"""Delta debugging leaves a part that fails, of which no item can be removed."""

from hypothesis import given
from hypothesis import strategies as st

from kraftproof.search.minimize import minimized


@given(st.lists(st.tuples(st.integers(0, 200), st.booleans()), unique_by=lambda one: one[0]))
def test_what_is_needed_is_left_in_its_order(drawn):
    items, needed = [number for number, _ in drawn], {number for number, kept in drawn if kept}
    kept = minimized(items, lambda part: needed <= set(part))
    assert kept == [item for item in items if item in needed]


def test_a_failure_without_any_item_needs_none():
    assert minimized([1, 2, 3], lambda _: True) == []


def test_where_each_part_passes_all_items_are_left():
    assert minimized([1, 2, 3], lambda _: False) == [1, 2, 3]
