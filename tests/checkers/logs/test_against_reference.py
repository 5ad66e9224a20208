"""The columns find what the definitions find, on small random histories of one partition."""

from collections import Counter
from random import Random

import pytest

from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.logs.judge import judge
from kraftproof.checkers.logs.reading.unpack import unpacked
from kraftproof.checkers.logs.rules.problems import STALE
from tests.checkers.logs.reference import Reference
from tests.checkers.logs.small import small_history
from tests.support.random_cases import random_cases


def found_by_columns(operations):
    facts, values = unpacked(operations_table(operations))
    judged = judge(facts, values)
    problems = {
        (group.check, group.kind.value, int(offset), values.text(int(value)), int(index))
        for group in judged.problems
        if group.check != STALE
        for _, _, offset, value, index in zip(
            *[[None] * len(group.offset)] * 2, *group[2:5], strict=True
        )
    }
    return problems, judged.reason


def compared(seeds):
    """Compare all histories of some seeds; the number of histories with each problem."""
    counts = Counter()
    for seed in seeds:
        operations = small_history(Random(seed))
        reference = Reference(operations)
        wanted = reference.problems()
        found, reason = found_by_columns(operations)
        assert found == wanted, f"seed {seed}: {sorted(found ^ wanted)}"
        acked = any(reference.offset_of(one) is not None for one in reference.sends)
        assert (reason is None) == (reference.is_whole and acked), f"seed {seed}: {reason}"
        counts.update({(check, kind) for check, kind, *_ in wanted} or {"clean"})
    return counts


EVERY_KIND = {
    ("log/one-value", "safety"),
    ("log/lost", "safety"),
    ("log/lost", "declared"),
    ("log/duplicate", "safety"),
    ("log/duplicate", "declared"),
    ("log/sent", "safety"),
    ("log/kept", "safety"),
    ("log/append-order", "safety"),
    ("log/producer-order", "safety"),
    ("log/producer-order", "declared"),
    ("log/order", "safety"),
    ("log/skipped", "safety"),
    "clean",
}


def test_a_few_thousand_histories():
    counts = compared(range(random_cases(3_000, share=5)))
    assert counts.keys() == EVERY_KIND
    assert min(counts.values()) > 10


@pytest.mark.long
@pytest.mark.timeout(3_000)
def test_a_hundred_thousand_histories():
    compared(range(3_000, 103_000))
