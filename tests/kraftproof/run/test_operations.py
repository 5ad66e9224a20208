"""The operations of a run come out of their columns as they went in."""

from kraftproof.cluster.systems.system import Outcome
from kraftproof.run.operations import DoneOperation, DoneOperations


def test_they_come_out_as_they_went_in():
    given = [
        DoneOperation(
            f=f, outcome=outcome, invoke_ns=number * 10, complete_ns=number * 10 + 2**40, key=key
        )
        for number, (f, outcome, key) in enumerate(
            [
                ("create", Outcome.OK, "naïve"),
                ("create", Outcome.FAIL, ""),
                ("delete", Outcome.INFO, "topic-1"),
                ("create", Outcome.OK, "トピック"),
            ]
        )
    ]
    operations = DoneOperations(given)
    assert (list(operations), len(operations), operations.ok) == (given, 4, 2)


def test_a_run_without_any():
    operations = DoneOperations()
    assert (list(operations), len(operations), operations.ok) == ([], 0, 0)
