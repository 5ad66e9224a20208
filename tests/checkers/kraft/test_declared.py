"""Answers that a declared guarantee excuses while a fault disturbs the system, and others."""

from typing import Any

import pytest

from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.faults import FaultSpan
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.kraft.declared import as_declared, disturbed_times
from kraftproof.checkers.models.topics import Topics
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict

DECLARED = {"create": "at-least-once", "delete": "at-least-once", "lookup": "bounded-staleness"}
TAIL_NS = 5
CREATED = ("create", None, {"outcome": "created", "id": "A"})
BY_NAME = {"by": "name"}
EXISTS, ABSENT = ("lookup", None, {"outcome": "exists"}), ("lookup", None, {"outcome": "absent"})


def verdict(steps: list[tuple[str, Any, Any]], fault: tuple[int, int], *, weak: bool) -> Verdict:
    """Judge operations one after the other, from times 0 to 8, 10 to 18, and so on."""
    operations = [
        Operation(
            index=place,
            process=place,
            f=f,
            key="t",
            input=asked,
            output=told,
            status="ok",
            invoke_index=2 * place,
            complete_index=2 * place + 1,
            invoke_time=10 * place,
            complete_time=10 * place + 8,
        )
        for place, (f, asked, told) in enumerate(steps)
    ]
    table = operations_table(operations)
    judged = as_declared(table, DECLARED if weak else {}, [fault], TAIL_NS)
    (key,) = judge_columns(Topics(), columns_of(judged), CheckOptions())
    return key.verdict


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([("create", None, {"outcome": "exists"}), EXISTS], id="own create repeated"),
        pytest.param(
            [CREATED, ("delete", BY_NAME, {"outcome": "absent"}), ABSENT], id="own delete repeated"
        ),
        pytest.param(
            [CREATED, EXISTS, ("delete", BY_NAME, {"outcome": "deleted"}), EXISTS],
            id="stale read, or created again",
        ),
    ],
)
def test_a_fault_excuses_repeats_and_stale_answers(steps: list[tuple[str, Any, Any]]) -> None:
    assert verdict(steps, (0, 100), weak=True) is Verdict.VALID
    assert verdict(steps, (0, 100), weak=False) is Verdict.INVALID
    assert verdict(steps, (500, 600), weak=True) is Verdict.INVALID


def test_a_lost_create_is_not_excused_by_a_fault_before_the_read() -> None:
    steps = [CREATED, EXISTS, EXISTS, ABSENT]
    assert verdict(steps, (10, 15), weak=True) is Verdict.INVALID


def test_a_read_in_a_fault_is_no_older_than_the_fault() -> None:
    # The topic was there before the fault began, and nothing deleted the topic.
    assert verdict([CREATED, EXISTS, ABSENT], (18, 40), weak=True) is Verdict.INVALID
    assert verdict([CREATED, ABSENT], (5, 40), weak=True) is Verdict.VALID


def test_faults_and_changes_of_the_leader_disturb_a_run() -> None:
    span = FaultSpan(name="p", kind="pause", target="1", start=5, begun=4, end=9)
    options = CheckOptions(faults=(span,), leader_changes=((20, 31),))
    assert disturbed_times(options) == [(4, 9), (20, 31)]
    assert disturbed_times(CheckOptions()) == []
