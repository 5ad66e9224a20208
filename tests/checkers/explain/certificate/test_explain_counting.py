"""Calls that take turns: counting shows every history in which they can't, and no other.

On tens of thousands of random small histories of a lock, judged by trying every order.
"""

from random import Random

import msgspec
import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.certificate.alternation import surplus_in, too_many
from kraftproof.checkers.explain.reduction.reductions import counted, optional, prefix, window
from kraftproof.checkers.explain.subhistory import BEGINNING, SubHistory
from kraftproof.checkers.explain.verify.brute_force import (
    is_alternation_count_right,
    is_linearizable,
)
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import SequentialModel, models
from kraftproof.checkers.models.mutex import Mutex
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.cases import CASES
from tests.support.checkers.columnar import history
from tests.support.checkers.random_histories import random_history
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

HISTORIES = random_cases(20_000, share=32)
KINDS = ("acquire", "release")


def random_sub_history(random: Random) -> SubHistory:
    """A prefix or a window of some random operations of a lock, some of them optional."""
    apply, draw = CASES["mutex"]
    size = random.randrange(2, 14)
    operations = random_history(random, draw, apply, size, random.randrange(2, 6))
    if random.random() < 0.7:
        operations = [
            msgspec.structs.replace(one, f=random.choice(KINDS)) if random.random() < 0.2 else one
            for one in operations
        ]
    sub = prefix(Mutex(), operations, random.randrange(2 * size + 2))
    if random.random() < 0.5:
        sub = window(Mutex(), sub, random.randrange(2 * size)) or sub
    some = [place for place in range(len(sub)) if random.random() < 0.2]
    return optional(Mutex(), sub, some) if random.random() < 0.2 else sub


def test_counting_shows_what_trying_every_order_shows():
    random, valid, apart = Random("counting"), 0, 0
    for _ in range(HISTORIES):
        sub = random_sub_history(random)
        found = [one for kind in KINDS if (one := too_many(Mutex(), sub, kind))]
        is_valid = is_linearizable(Mutex(), sub)
        assert is_valid == (not found), (sub, found)
        valid += bool(is_valid)
        apart += bool(found) and min(len(one.windows) for one in found) > 1
        assert all(is_alternation_count_right(one, sub) for one in found)
        left = counted(Mutex(), sub)
        assert (left is None) == (not found)
        if left is not None:
            assert is_linearizable(Mutex(), left) is False, (sub, left)
            assert len(left) <= 2
    assert HISTORIES / 10 < valid < HISTORIES * 9 / 10
    assert apart, "no history was drawn that only windows apart from each other show"


def test_no_windows_at_all_show_that_a_legal_history_is_not():
    random, tried = Random("windows"), 0
    while tried < HISTORIES * len(KINDS):
        sub = random_sub_history(random)
        last = max((one.operation.complete_index or 0 for one in sub.entries), default=0) + 2
        ends = sorted(
            {random.randrange(BEGINNING, last) for _ in range(2 * random.randrange(1, 4))}
        )
        windows = list(zip(ends[::2], ends[1::2], strict=False))
        if is_linearizable(Mutex(), sub):
            for kind in KINDS:
                tried += 1
                assert not surplus_in(Mutex(), sub, kind, windows).is_too_many, (sub, windows)
    assert tried > 0


def test_a_release_that_two_windows_need_is_one_release():
    """Each window alone may have it between its acquisitions; both together may not."""
    operations = history(
        ("acquire", None, None, 0, 1),
        ("release", None, None, 2, 30),
        ("acquire", None, None, 3, 4),
        ("acquire", None, None, 5, 40),
        ("release", None, None, 10, 11),
        ("release", None, None, 12, 13),
        ("acquire", None, None, 20, 21),
        ("acquire", None, None, 22, 23),
    )
    whole = prefix(Mutex(), operations, 23)
    found = too_many(Mutex(), whole, "acquire")
    assert found is not None
    assert found.windows == ((0, 4), (20, 23))
    assert [one.operation.index for one in found.touching] == [1]
    assert is_linearizable(Mutex(), whole) is False


@pytest.mark.parametrize(
    ("name", "kind", "seed", "most"),
    [
        long("mutex", "double-acquire", 2, 2),
        long("mutex", "double-release", 0, 2),
        long("mutex", "double-release", 2, 2),
        ("queue", "phantom", 0, 3),
        long("queue", "false-empty", 0, 3),
    ],
)
def test_what_is_found_out_late_is_told_in_a_few_calls(name, kind, seed, most):
    options = GenerateOptions(
        model=name, operations=10_000, concurrency=10, values=None, corrupt=kind, seed=seed
    )
    model, columns = models()[name], columns_of(generated_table(options))
    assert isinstance(model, SequentialModel)
    (judged,) = judge_columns(model, columns, CheckOptions())
    assert judged.verdict is Verdict.INVALID
    first_illegal = judged.findings[0].operation_index
    assert first_illegal is not None
    found = explain(model, judged.key, columns.operations(0), first_illegal, seconds=30)
    assert found.linearization is not None
    sub = found.sub_history
    assert sub is not None
    assert len(sub.constraints) <= most
    assert first_illegal in {one.operation.index for one in sub.constraints}
    assert sub.is_verified
    assert sub.is_minimal
    if name == "mutex":
        assert sub.surplus is not None
        assert len(sub.surplus.inside) > len(sub.surplus.touching) + sub.surplus.granted
        assert "alternate, so" in found.words
