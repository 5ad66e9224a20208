"""The register that numbers its values: its engine against the general one, and its bad values."""

from random import Random

import pytest

from kraftproof.checkers.engines.register import versioned_cas
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.models.versioned_register import VersionedRegister
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.random_histories import draw_versioned, random_history
from tests.support.random_cases import random_cases

MODEL = VersionedRegister()
LIMITS = Limits(seconds=20)


def decided(operations):
    columns = columns_of(operations_table(operations))
    (outcome,) = versioned_cas.decide(MODEL.calls_of(columns), LIMITS)
    first_illegal = (
        None if outcome.first_illegal_row is None else columns.operation(outcome.first_illegal_row)
    )
    return outcome.verdict, first_illegal, outcome.linearizable


@pytest.mark.parametrize(("size", "rounds"), [(8, random_cases(1_500, share=3)), (25, 400)])
def test_says_what_the_general_engine_says_and_names_the_same_operation(size, rounds):
    random = Random(size)
    told = {Verdict.VALID: 0, Verdict.INVALID: 0}
    for _ in range(rounds):
        operations = random_history(
            random,
            draw_versioned,
            reference.versioned_register,
            random.randrange(1, size),
            random.randrange(1, 6),
        )
        wanted = check_linearizable(MODEL, operations, LIMITS)
        assert decided(operations) == (wanted.verdict, wanted.first_illegal, wanted.linearizable)
        told[wanted.verdict] += 1
    assert min(told.values()) > 40, told


def history(rows):
    """Operations of (f, input, output, status, invocation, completion)."""
    return [
        Operation(
            index=index, process=index, f=f, key="k", input=asked, output=answer, status=status,
            invoke_index=begun, complete_index=done,
        )
        for index, (f, asked, answer, status, begun, done) in enumerate(rows)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("late", "wanted"), [(4, Verdict.VALID), (6, Verdict.INVALID)], ids=["in time", "too late"]
)
def test_lost_sets_fill_the_versions_that_nobody_answered_for(late, wanted):
    lost = [("set", 1, None, "info", 0, None), ("set", 2, None, "info", late, None)]
    seen = [("get", None, [2, 1], "ok", 1, 7), ("set", 3, 3, "ok", 3, 5)]
    assert decided(history([*lost, *seen]))[0] is wanted
    seen = [("get", None, [1, 1], "ok", 1, 2), ("set", 3, 3, "ok", 3, 5)]
    assert decided(history([*lost, *seen]))[0] is wanted


def test_a_large_history_with_a_gap_is_valid_and_its_twin_invalid_there():
    rows = []
    for number in range(20_000):
        lost = number % 100 == 50
        answer = ("info", None, None) if lost else ("ok", number + 1, 2 * number + 1)
        rows.append(("set", number, answer[1], answer[0], 2 * number, answer[2]))
    assert decided(history(rows))[0] is Verdict.VALID
    rows[15_000] = ("set", 15_000, 15_002, "ok", 30_000, 30_001)
    verdict, first_illegal, linearizable = decided(history(rows))
    assert (verdict, first_illegal.index, linearizable) == (Verdict.INVALID, 15_000, 15_000 - 150)


@pytest.mark.parametrize(
    ("f", "asked", "answer", "wanted"),
    [
        ("get", None, 3, r"get answers \[value, version\], not 3"),
        ("get", None, [1, "x"], 'get answers a version, an integer, not "x"'),
        ("set", 1, None, "set answers a version, an integer, not null"),
        ("set-if", 1, 2, r"set-if takes \[version, value\], not 1"),
        ("set-if", [-1, 1], 2, "set-if takes a version, an integer, not -1"),
        ("put", 1, 2, "put is no operation of versioned-register, which has get, set, set-if"),
    ],
)
def test_a_value_that_can_not_be_read_is_named(f, asked, answer, wanted):
    (operation,) = history([(f, asked, answer, "ok", 0, 1)])
    with pytest.raises(ValueError, match=wanted):
        MODEL.validate(operation)
    with pytest.raises(ValueError, match=wanted):
        MODEL.calls_of(columns_of(operations_table([operation])))
