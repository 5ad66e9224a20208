"""A partition that is judged by ranges of offsets has the problems of the whole partition."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.logs.judge import judge
from kraftproof.checkers.logs.reading.facts import Polls, Sends, joined
from kraftproof.checkers.logs.reading.unpack import unpacked
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules.positions import Polled
from kraftproof.checkers.logs.rules.problems import merged
from kraftproof.checkers.logs.split import pieces as kinds
from kraftproof.checkers.logs.split import ranges, resolution
from kraftproof.checkers.logs.split.orders import is_ordered
from kraftproof.checkers.logs.split.pieces import OF_KEY, Gaps, frames_of, pieces_of
from tests.checkers.logs.small import small_history
from tests.support.random_cases import random_cases

RANGE = 2
S = 1_000_000_000


def judged_by_ranges(rows, cuts, read_once):
    """The problems of the pieces of some parts of a history; None if it can't be split.

    `read_once` receives the number of ranges if their order needs no second pass.
    """
    pieces = [
        one for begin, end in cuts for one in pieces_of(rows.slice(begin, end - begin), RANGE)
    ]
    runs = {one.run for one in pieces if one.run}
    if any(one.kind == kinds.ODD for one in pieces) or len(runs) > 1:
        return None
    values = Values(run=next(iter(runs), ""))
    bounds = resolution.bounds_of(frames_of(pieces, kinds.COVERS, Polls), is_declared=False)
    by_part = {part: [one for one in pieces if one.part == part] for part in parts_of(pieces)}
    places = {part: ranges.judge_places(own, bounds, values) for part, own in by_part.items()}
    left, polled = (
        joined([getattr(one, name) for one in places.values()], Polled)
        for name in ("left", "left_polled")
    )
    loose = frames_of(pieces, kinds.LOOSE, Sends)
    wanted = resolution.unexplained([left, polled], loose)
    found = [ranges.homes(own, bounds, wanted) for own in by_part.values()]
    elsewhere = joined([sends for sends, _ in found], Sends)
    is_home = np.concatenate([np.zeros(0, np.int64), *(home for _, home in found)])
    resolved, problems = resolution.resolve(left, polled, loose, elsewhere, is_home, bounds)
    problems += resolution.backwards(frames_of(pieces, kinds.BACKWARDS, Gaps))
    problems += [one for place in places.values() for one in place.problems]
    of_order = [
        one
        for part, context in resolution.contexts(places, resolved, values, RANGE).items()
        for one in ranges.judge_order(by_part[part], bounds, values, *context)
    ]
    if is_ordered({part: one.facts() for part, one in places.items()}, resolved):
        assert of_order == [], "a second pass finds what the facts of the first pass hide"
        read_once.append(len(places))
    return merged(problems + of_order), values


def parts_of(pieces):
    return sorted({one.part for one in pieces} - {OF_KEY})


def rows_of(problems, values):
    found = {}
    for group in problems:
        rows = zip(*(map(int, column) for column in group[2:6]), strict=True)
        told = sorted(
            (offset, values.text(value), index, other) for offset, value, index, other in rows
        )
        found.setdefault((group.check, group.kind), []).extend(told)
    return {rule: sorted(told) for rule, told in found.items()}


def with_positions(operations):
    """Readers that state their positions, as those of our workload."""
    return [one for one in operations if one.f != "poll" or one.input["position"] is not None]


def compare(seeds):
    split, read_once = 0, []
    for seed in seeds:
        random = Random(f"cut {seed}")
        rows = operations_table(with_positions(small_history(Random(seed))))
        places = sorted({0, len(rows), *(random.randrange(len(rows) + 1) for _ in range(2))})
        found = judged_by_ranges(rows, list(pairwise(places)), read_once)
        if found is None:
            continue
        split += 1
        facts, values = unpacked(rows)
        assert rows_of(*found) == rows_of(judge(facts, values).problems, values), seed
    assert any(ranges > 1 for ranges in read_once)
    return split


def test_ranges_find_what_the_whole_partition_shows():
    count = random_cases(2_000, share=160)
    assert compare(range(count)) > count / 2


@pytest.mark.long
@pytest.mark.timeout(3_000)
def test_ranges_agree_on_a_hundred_thousand_histories():
    assert compare(range(2_000, 102_000)) > 50_000


def test_a_partition_of_readers_with_own_positions_is_not_split():
    seed = next(seed for seed in range(100) if has_own_position(small_history(Random(seed))))
    rows = operations_table(small_history(Random(seed)))
    assert judged_by_ranges(rows, [(0, len(rows))], []) is None


def has_own_position(operations):
    polls = [one for one in operations if one.f == "poll" and one.status == "ok"]
    return any(one.input["position"] is None for one in polls)


def operation(index, f, asked, told, at_s):
    return Operation(
        index=index, process=index, f=f, key="p", input=asked, output=told, status="ok",
        invoke_time=at_s * S, complete_time=at_s * S + 1,
        invoke_index=2 * index, complete_index=2 * index + 1,
    )  # fmt: skip


def test_a_poll_that_misses_a_record_of_a_higher_range_needs_a_second_pass():
    values = [f"0.{number}@run" for number in range(6)]
    sends = [
        operation(offset, "send", {"value": value, "acks": -1}, {"offset": offset}, 1 + offset)
        for offset, value in enumerate(values)
        if offset != 1
    ]
    told = {"records": [], "log_start": 0, "end": 6}
    poll = operation(6, "poll", {"position": 1}, told, 30)
    read = told | {"records": [[one.output["offset"], one.input["value"]] for one in sends]}
    rows = operations_table([*sends, poll, operation(7, "final", {"position": 0}, read, 31)])
    read_once = []
    problems, _ = judged_by_ranges(rows, [(0, len(rows))], read_once)
    assert [one.check for one in problems] == ["log/stale"]
    assert read_once == []
