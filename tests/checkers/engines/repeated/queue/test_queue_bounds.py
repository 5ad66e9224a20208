"""How many of a queue's first elements may have some value, and what that shows."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.engines.repeated.queue.bounds import (
    bounds_of,
    is_possible,
    kinds_of,
    out_of_bounds_at,
)
from kraftproof.checkers.engines.repeated.queue.heuristic import heuristic_of
from kraftproof.checkers.engines.repeated.queue.layout import lines_of, queue_of
from kraftproof.checkers.engines.repeated.queue.search import GAVE_UP, ILLEGAL, LEGAL, search
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import model_named
from tests.support.checkers import reference
from tests.support.checkers.columnar import calls_of, history
from tests.support.checkers.random_histories import draw_repeated, random_history
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

MANY = 1_000_000


def lines_from(operations: list[Operation]):
    calls = calls_of("queue", operations)
    return lines_of(queue_of(calls, 0, len(calls)), NEVER - 1)


def puts_then_takes(puts: list[int], takes: list[int]) -> list[Operation]:
    """Puts one after the other, then takes, likewise."""
    start = 2 * len(puts)
    put = [("enqueue", each, None, 2 * n, 2 * n + 1) for n, each in enumerate(puts)]
    take = [
        ("dequeue", None, each, start + 2 * n, start + 2 * n + 1) for n, each in enumerate(takes)
    ]
    return history(*put, *take)


def test_one_after_the_other_there_is_one_number():
    bounds = bounds_of(lines_from(puts_then_takes([0, 1, 0, 0], [0, 1, 0, 0])))
    zeros = [0, 1, 1, 2, 3]
    assert bounds.least[:, 0].tolist() == bounds.most[:, 0].tolist() == zeros
    assert bounds.least[:, 1].tolist() == [n - zero for n, zero in enumerate(zeros)]


def test_an_exchange_that_no_count_shows_leaves_no_number():
    calls = calls_of("queue", puts_then_takes([0, 1, 0, 1], [0, 0, 1]))
    queue = queue_of(calls, 0, len(calls))
    assert short_at(*queue) == NEVER
    assert out_of_bounds_at(queue, NEVER) == queue.complete[5]
    assert out_of_bounds_at(queue, int(queue.complete[4])) == queue.complete[4]


def test_a_lost_put_may_come_between():
    lost = ("enqueue", 0, None, 1, None)
    puts = [("enqueue", 1, None, 2, 3), ("enqueue", 0, None, 4, 5)]
    takes = [("dequeue", None, 0, 6, 7), ("dequeue", None, 1, 8, 9)]
    assert is_possible(bounds_of(lines_from(history(lost, *puts, *takes))))
    assert not is_possible(bounds_of(lines_from(history(*puts, *takes))))


@pytest.mark.parametrize("values", [2, long(3), 5, long(20)])
def test_the_order_of_a_valid_history_is_within_the_bounds(values):
    """Each call takes effect at a moment between its events, and is answered what is right then."""
    random, compared = Random(values), 0
    for _ in range(random_cases(60, share=3)):
        moments = sorted(random.sample(range(10_000), 60))
        reach = random.choice([10, 300, 3_000])
        inside, taken, operations = [], [], []
        for moment in moments:
            began = moment - random.random() * reach
            ended = moment + random.random() * reach
            if inside and random.random() < 0.5:
                taken.append(inside.pop(0))
                operations.append(("dequeue", None, taken[-1], began, ended))
            else:
                inside.append(random.randrange(values))
                operations.append(("enqueue", inside[-1], None, began, ended))
        lines = lines_from(history(*_on_a_line(operations)))
        bounds, kinds = bounds_of(lines), kinds_of(lines)
        number = _numbers(lines, operations)
        counts = np.zeros(kinds, dtype=np.int64)
        for place, element in enumerate(taken, start=1):
            counts[number[element] % kinds] += 1
            for which, (one, two) in enumerate(bounds.sets):
                count = counts[one] + (counts[two] if two >= 0 else 0)
                assert bounds.least[place, which] <= count <= bounds.most[place, which]
                compared += 1
    assert compared > 100


def _on_a_line(operations: list[tuple]) -> list[tuple]:
    """The same operations with the ranks of their events for moments."""
    events = sorted(time for each in operations for time in each[3:])
    rank = {time: place for place, time in enumerate(events)}
    assert all(one < other for one, other in pairwise(events))
    return [(*each[:3], rank[each[3]], rank[each[4]]) for each in operations]


def _numbers(lines, operations: list[tuple]) -> dict[int, int]:
    """The number that each value has in the lines."""
    rank = {each[3]: each for each in _on_a_line(operations)}
    told = (rank[invoke] for invoke in lines.invoke.tolist())
    values = [each[1] if each[0] == "enqueue" else each[2] for each in told]
    return dict(zip(values, lines.element.tolist(), strict=True))


@pytest.mark.long
def test_narrow_searches_and_wide_ones_never_contradict_each_other():
    """However few states are kept; and where bounds allow an order there may yet be none."""
    random = Random(5)
    seen = {LEGAL: 0, ILLEGAL: 0}
    given_up = hidden = 0
    for _ in range(300):
        lines = lines_from(random_history(random, draw_repeated, reference.queue, 30, 5))
        if len(lines.starts) == 1:
            continue
        guide = heuristic_of(lines)
        wide, _ = search(lines, guide, MANY, MANY)
        seen[wide] += 1
        hidden += wide == ILLEGAL and is_possible(guide.bounds)
        for room in (1, 2, 8):
            narrow, _ = search(lines, guide, room, MANY)
            assert narrow in {wide, GAVE_UP}
            given_up += narrow == GAVE_UP
    assert min(*seen.values(), given_up, hidden) > 10, (seen, given_up, hidden)


@pytest.mark.long
@pytest.mark.parametrize("seed", [5, 9])
def test_a_search_that_kept_too_few_is_turned_back(seed):
    """It came to nothing soon after the beginning, or close to the end, with as few as at first."""
    options = GenerateOptions(
        model="queue", operations=10_000, concurrency=50, values=5, seed=seed
    )  # fmt: skip
    (table,) = Chunks(options)
    calls = model_named("queue").calls_of(columns_of(table))  # type: ignore[union-attr]
    lines = lines_of(queue_of(calls, 0, len(calls)), NEVER - 1)
    guide = heuristic_of(lines)
    assert search(lines, guide, 8, MANY)[0] == GAVE_UP
    assert search(lines, guide, 10_000, MANY)[0] == LEGAL
