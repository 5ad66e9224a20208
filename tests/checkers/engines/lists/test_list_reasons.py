"""What a finding on lists says in words, by the anomaly."""

import pytest

from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions


def verdict(*fields):
    """The only finding of transactions (begin, end, actions as answered, status)."""
    operations = [
        Operation(
            index=place,
            process=place,
            f="txn",
            key="null",
            input=[[f, name, None if f == "r" else value] for f, name, value in actions],
            output=actions if status == "ok" else None,
            status=status,
            invoke_index=begin,
            complete_index=end,
        )
        for place, (begin, end, actions, status) in enumerate(fields)
    ]
    columns = columns_of(operations_table(operations))
    (judged,) = judge_columns(model_named("list-append"), columns, CheckOptions())
    return judged.findings[0].reason


def did(begin, end, *actions, status="ok"):
    return begin, end, [list(one) for one in actions], status


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (
            [did(0, 1, ("append", "x", 1), status="fail"), did(2, 3, ("r", "x", [1]))],
            'it read [1] of x, but txn [["append","x",1]] (operation 0), which appended 1,'
            " failed (G1a, aborted read)",
        ),
        (
            [did(0, 2, ("append", "x", 1), ("append", "x", 2)), did(1, 3, ("r", "x", [1]))],
            "it read [1] of x, with 1 but not 2, both of which transaction 0 appended (",
        ),
        (
            [
                did(0, 4, ("append", "x", 3), ("append", "y", 4)),
                did(1, 5, ("r", "x", []), ("r", "y", [4])),
            ],
            "transaction 1 read [] of x, without 3, which transaction 0 appended; transaction 1"
            " read [4] of y, with 4, which transaction 0 appended (G-single",
        ),
        (
            [
                did(0, 4, ("r", "x", []), ("append", "x", 1)),
                did(1, 5, ("r", "x", []), ("append", "x", 2)),
            ],
            "transaction 1 read [] of x, without 1, which transaction 0 appended; transaction 0"
            " read [] of x, without 2, which transaction 1 appended (",
        ),
        (
            [
                did(0, 6, ("r", "x", []), ("append", "y", 1)),
                did(1, 7, ("r", "y", []), ("append", "z", 2)),
                did(2, 8, ("r", "z", []), ("append", "x", 3)),
            ],
            "transaction 2 read [] of z, without 2, which transaction 1 appended; transaction 1"
            " read [] of y, without 1, which transaction 0 appended; transaction 0 read [] of x,"
            " without 3, which transaction 2 appended (",
        ),
        (
            [did(0, 1, ("append", "x", 1), ("r", "x", []))],
            "it read [] of x, which does not end with its own append of [1] (internal)",
        ),
        (
            [did(0, 1, ("append", "x", 1)), did(2, 3, ("r", "x", [1, 1]))],
            "it read [1 1] of x, with 2 times 1, but 1 was appended only once (duplicate elements)",
        ),
        (
            [did(0, 1, ("append", "x", 1)), did(2, 3, ("r", "x", []))],
            "transaction 1 read [] of x, without 1, which transaction 0 appended; transaction 0 had"
            " completed before transaction 1 began (",
        ),
        (
            [
                did(0, 9, ("append", "x", 1)),
                did(1, 8, ("append", "x", 2)),
                did(2, 3, ("r", "x", [1, 2])),
                did(4, 5, ("r", "x", [2, 1])),
            ],
            "it read [2 1] of x, transaction 2 [1 2]: neither is the beginning of the other"
            " (incompatible order)",
        ),
    ],
)
def test_a_finding_names_the_anomaly_and_its_operations(history, said):
    assert verdict(*history).startswith(said), verdict(*history)
