"""Acknowledged topics against the writes that the voters' disks report."""

import base64
from uuid import UUID

import pyarrow as pa
import pytest

from kraftproof.checkers.findings import located
from kraftproof.checkers.history.faults import FaultEvent, fault_spans
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.kraft.disk_writes import acknowledged_is_durable

ID = UUID(int=77).bytes
TEXT = base64.urlsafe_b64encode(ID).decode().rstrip("=")
OTHER = UUID(int=78).bytes
ACKNOWLEDGED = 5_000_000_000
POWER = [
    FaultEvent(index=index, time=time, phase=phase, fault="f1", kind="lose-unsynced", targets=[2])
    for index, (phase, time) in enumerate((("intent", 7_200_000_000), ("applied", 7_300_000_000)))
]
"""A loss of power whose writes are lost while the fault is being applied."""


def create(status="ok", at=ACKNOWLEDGED):
    return Operation(
        index=0,
        process=0,
        f="create",
        key="t",
        input=None,
        output={"outcome": "created", "id": TEXT} if status == "ok" else None,
        status=status,
        invoke_time=0,
        complete_time=at,
        invoke_index=0,
        complete_index=1,
    )


def writes(*rows, voters=3):
    """Rows of (node, fate, time in seconds, bytes)."""
    filled = [
        {
            "node": node,
            "fate": fate,
            "time": int(seconds * 1e9),
            "written": 0,
            "file": "log",
            "start": 0,
            "end": 1,
            "data": None if data is None else base64.b64encode(b"record " + data).decode(),
            "voters": voters,
        }
        for node, fate, seconds, data in rows
    ]
    return pa.Table.from_pylist(filled, table_schema("writes"))


def found(table, *operations):
    operations = operations or (create(),)
    return acknowledged_is_durable({"operations": operations_table(operations), "writes": table})


@pytest.mark.parametrize(
    "table",
    [
        writes((1, "synced", 4.9, ID), (2, "synced", 5.0, ID), (3, "lost", 6, ID)),
        writes((1, "synced", 4.9, ID), (3, "synced", 4, ID), (2, "synced", 6, ID)),
        writes((1, "lost", 4, ID), (2, "synced", 4.5, ID), (1, "synced", 4.6, ID)),
        writes((1, "synced", 4, ID), voters=1),
        writes((1, "synced", 4, OTHER), (2, "lost", 6, OTHER), (3, "lost", 6, OTHER)),
        writes((1, "lost", 6, ID), (2, "lost", 6, ID), (3, "synced", 4, None)),
    ],
)
def test_a_majority_that_has_synced_before_the_answer_is_enough(table):
    assert found(table) == []


def test_what_was_never_acknowledged_may_be_lost():
    table = writes((1, "lost", 6, ID), (2, "lost", 6, ID))
    assert found(table, create(status="info", at=None)) == []


def test_a_topic_that_was_acknowledged_too_early_is_named_with_what_became_of_it():
    table = writes(
        (1, "synced", 4.5, ID),
        (2, "lost", 7.25, ID),
        (2, "synced", 9, ID),
        (3, "synced", 5.001, ID),
    )
    (finding,) = found(table)
    shown = located(finding, create(), fault_spans(POWER))
    assert shown.sentence == (
        f"topic t ({TEXT}) was acknowledged at 5.000 s when 1 of 3 voters had synced its record,"
        " node 3 synced the record at 5.001 s only, and node 2 lost the record with its power at"
        " 7.250 s, 0 ms after lose-unsynced of node 2 (in force); a majority syncs a record before"
        " it is acknowledged (operation 0)"
    )
    assert (shown.time_ns, shown.node, shown.events) == (7_250_000_000, "2", (0, 1))


def test_without_any_fsync_the_end_of_the_run_is_named():
    table = writes((1, "unmounted", 30, ID), (2, "unmounted", 31, ID))
    (finding,) = found(table)
    shown = located(finding, create(), fault_spans(POWER))
    assert shown.sentence.startswith(
        "node 1 had not synced the record when the run ended at 30.000 s, node 2 had not synced"
    )
    said = f"topic t ({TEXT}) was acknowledged when 0 of 3 voters had synced its record at 5.000 s"
    assert said in shown.sentence
    assert shown.time_ns == ACKNOWLEDGED
