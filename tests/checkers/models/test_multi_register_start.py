"""A register of transactions starts with 0 or with null; the history tells with which."""

import pytest

from kraftproof.checkers.engines.registry import decide
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions, Limits

FOUND_0, FOUND_NULL, FOUND_1 = ([["r", "x", value]] for value in (0, None, 1))
LEFT_0, LEFT_NULL, LEFT_1 = ([["w", "x", value]] for value in (0, None, 1))


def operation(place, actions, span=None, status="ok"):
    asked = [[name, place, None if name == "r" else value] for name, place, value in actions]
    invoke, complete = span or (2 * place, 2 * place + 1)
    return Operation(
        index=place, process=place, f="txn", key="null", input=asked, status=status,
        output=actions if status == "ok" else None, invoke_index=invoke, complete_index=complete,
    )  # fmt: skip


def verdicts(operations):
    """Return the verdict of the first pass, and that of the engine for transactions."""
    model, columns = model_named("multi-register"), columns_of(operations_table(operations))
    (key,) = judge_columns(model, columns, CheckOptions())
    (outcome,) = decide(model.calls_of(columns), Limits(), 1)
    return key.verdict.value, outcome.verdict.value


@pytest.mark.parametrize(
    ("transactions", "verdict"),
    [
        ([FOUND_0, LEFT_NULL, FOUND_NULL], "valid"),
        ([FOUND_0, FOUND_0, LEFT_NULL, FOUND_NULL, LEFT_0, FOUND_0], "valid"),
        ([FOUND_0 + LEFT_NULL + FOUND_NULL, FOUND_NULL], "valid"),
        ([FOUND_NULL, LEFT_0, FOUND_0, LEFT_NULL, FOUND_NULL], "valid"),
        ([LEFT_1, FOUND_1, LEFT_NULL, FOUND_NULL], "valid"),
        ([FOUND_NULL, LEFT_NULL, FOUND_NULL], "valid"),
        ([FOUND_0, FOUND_NULL], "invalid"),
        ([FOUND_0, FOUND_NULL, LEFT_NULL], "invalid"),
        ([LEFT_NULL, FOUND_0], "invalid"),
        ([FOUND_0, LEFT_NULL, FOUND_0], "invalid"),
        ([FOUND_0, LEFT_NULL + LEFT_1, FOUND_NULL], "invalid"),
    ],
)
def test_the_start_is_0_if_0_was_found_before_it_was_written(transactions, verdict):
    operations = [operation(place, one) for place, one in enumerate(transactions)]
    assert verdicts(operations) == (verdict, verdict)


@pytest.mark.parametrize(("status", "verdict"), [("info", "valid"), ("fail", "invalid")])
def test_a_write_of_null_without_an_answer_may_explain_null(status, verdict):
    written = operation(1, LEFT_NULL, status=status)
    assert verdicts([operation(0, FOUND_0), written, operation(2, FOUND_NULL)]) == (verdict,) * 2


def test_0_that_an_open_write_may_have_left_tells_no_start():
    overlapping = [operation(0, LEFT_0, (0, 3)), operation(1, FOUND_0, (1, 2))]
    later = [operation(2, FOUND_NULL, (4, 5)), operation(3, LEFT_NULL, (6, 7))]
    assert verdicts(overlapping + later) == ("invalid", "invalid")
    assert verdicts([operation(9, FOUND_NULL, (-2, -1)), *overlapping]) == ("valid", "valid")


def judged(operations):
    columns = columns_of(operations_table(operations))
    (key,) = judge_columns(model_named("multi-register"), columns, CheckOptions())
    assert key.operations == len(operations)
    return key.verdict.value


def test_a_transaction_that_found_0_did_not_bring_0_in():
    found = operation(0, FOUND_0 + LEFT_0, (0, 1))
    null = operation(2, FOUND_NULL, (4, 5))
    assert judged([found, operation(1, LEFT_NULL, (2, 6)), null]) == "valid"
    assert judged([found, operation(3, LEFT_NULL, (6, 7)), null]) == "invalid"


UNCERTAIN = [
    operation(0, LEFT_NULL, (0, 2)),
    operation(1, FOUND_0, (1, 4)),
    operation(2, LEFT_0, (3, 7)),
]


def test_a_key_is_valid_if_one_of_two_possible_starts_has_an_order():
    assert judged([*UNCERTAIN, operation(3, FOUND_NULL + LEFT_1, (5, 6))]) == "valid"
    found_again = operation(4, FOUND_NULL, (8, 9))
    assert judged([*UNCERTAIN, operation(3, FOUND_NULL + LEFT_1, (5, 6)), found_again]) == "invalid"


@pytest.mark.parametrize(("registers", "verdict"), [(4, "invalid"), (5, "unknown")])
def test_too_many_registers_with_two_possible_starts_are_unknown(registers, verdict):
    both = [
        ("w", None, (0, 2)), ("r", 0, (1, 4)), ("w", 0, (3, 7)), ("r", None, (5, 6)),
    ]  # fmt: skip
    operations = [
        operation(place, [[name, f"x{number}", value] for number in range(registers)], span)
        for place, (name, value, span) in enumerate(both)
    ]
    wrong = operation(9, [["r", "x0", 3]], (8, 9))
    assert judged([*operations, wrong]) == verdict
