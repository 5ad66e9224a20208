"""A history as weak as its system declares: repeats and stale answers while it is disturbed.

A system declares `at-least-once` for an operation that it may repeat by itself, such as a request
that a Kafka broker forwards (KIP-590). During a disturbance, the answer `exists` or `absent` may
then be that of a repeat, and an operation may take effect twice. A system declares
`bounded-staleness` for a read whose answer may be as old as the begin of the disturbance. A fault
is a disturbance, and so is a change of the leader without a fault, on a loaded machine.

The rewritten history has more legal orders, so a run that is invalid here breaks its declaration.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import pyarrow as pa

from kraftproof.checkers.history.faults import FaultSpan
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows, operations_table, rows_of
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import RunVerdict

AT_LEAST_ONCE: Final = "at-least-once"
BOUNDED_STALENESS: Final = "bounded-staleness"
WEAK: Final = frozenset({AT_LEAST_ONCE, BOUNDED_STALENESS})
_OF_A_REPEAT: Final = frozenset({"exists", "absent"})
_FOREVER: Final = 1 << 62


def disturbed_times(options: CheckOptions) -> list[tuple[int, int | None]]:
    """Return the times of the faults and of the changes of the leader."""
    faults = [(_begun(span), span.end) for span in options.faults or ()]
    return [*faults, *options.leader_changes]


def as_declared(
    table: pa.Table,
    guarantees: Mapping[str, str],
    disturbed: Sequence[tuple[int, int | None]],
    tail_ns: int,
) -> pa.Table:
    """Return a table of operations, weakened where they were disturbed.

    Args:
        table: The operations as recorded.
        guarantees: The guarantee of each function; other functions keep their answers.
        disturbed: The begin and the end of each disturbance; None for one without an end.
        tail_ns: The longest time after a disturbance until its effects end.
    """
    weak = {f for f, guarantee in guarantees.items() if guarantee in WEAK}
    if not weak or not disturbed:
        return table
    recorded = list(iterate_rows(table))
    windows = [(begin, _FOREVER if end is None else end + tail_ns) for begin, end in disturbed]
    return operations_table(_weakened(recorded, guarantees, windows)).cast(table.schema)


def _weakened(
    recorded: Sequence[Operation], guarantees: Mapping[str, str], windows: Sequence[tuple[int, int]]
) -> list[Operation]:
    capacity = len(recorded) + 1
    events = _events(recorded)
    next_index = max((one.index for one in recorded), default=0) + 1
    next_process = max((one.process for one in recorded), default=0) + 1
    found: list[Operation] = []
    repeats: list[Operation] = []
    for place, one in enumerate(recorded):
        spread = _spread(one, capacity)
        since = _disturbed_since(one, windows)
        guarantee = guarantees.get(one.f)
        if since is None or one.status == "fail" or guarantee not in WEAK:
            found.append(spread)
        elif guarantee == BOUNDED_STALENESS:
            found.append(_begins_at(spread, since, events, capacity, place))
        elif _outcome(one) in _OF_A_REPEAT:
            found.append(_unanswered(spread))
        else:
            found.append(spread)
            number = len(repeats)
            repeat = msgspec.structs.replace(
                _unanswered(spread),
                index=next_index + number,
                process=next_process + number,
                invoke_index=spread.invoke_index + 1,
            )
            repeats.append(repeat)
    return [*found, *repeats]


def _begun(span: FaultSpan) -> int:
    return span.start if span.begun is None else span.begun


def _disturbed_since(operation: Operation, windows: Sequence[tuple[int, int]]) -> int | None:
    """Return the begin of the first disturbance in the time of an operation."""
    if operation.invoke_time is None:
        return None
    ended = operation.complete_time
    until = _FOREVER if ended is None or operation.status == "info" else ended
    return min(
        (start for start, end in windows if start <= until and operation.invoke_time <= end),
        default=None,
    )


def _spread(operation: Operation, capacity: int) -> Operation:
    """Return an operation with free event numbers before and after its own."""
    ended = operation.complete_index
    return msgspec.structs.replace(
        operation,
        invoke_index=operation.invoke_index * 2 * capacity + capacity,
        complete_index=None if ended is None else ended * 2 * capacity + capacity,
    )


def _events(recorded: Sequence[Operation]) -> list[tuple[int, int]]:
    """Return (time, number) of each event with a time, in the order of time."""
    ends = [(one.invoke_time, one.invoke_index) for one in recorded]
    ends += [(one.complete_time, one.complete_index or 0) for one in recorded]
    return sorted((time, number) for time, number in ends if time is not None)


def _begins_at(
    operation: Operation, since: int, events: Sequence[tuple[int, int]], capacity: int, place: int
) -> Operation:
    """Return an operation that begins after the last event before a time."""
    before = bisect_left(events, (since, -1))
    last = events[before - 1][1] if before else events[0][1] - 1
    begin = last * 2 * capacity + capacity + 2 + place
    return msgspec.structs.replace(operation, invoke_index=min(begin, operation.invoke_index))


def _unanswered(operation: Operation) -> Operation:
    return msgspec.structs.replace(
        operation, status="info", output=None, complete_index=None, complete_time=None
    )


def _outcome(operation: Operation) -> object:
    answer = operation.output if operation.status == "ok" else None
    return answer.get("outcome") if isinstance(answer, dict) else None


def with_recorded_events(verdict: RunVerdict, recorded: pa.Table) -> RunVerdict:
    """Return a verdict whose findings name the events of the history as it was recorded."""
    if not any(one.events for one in verdict.findings):
        return verdict
    rows = rows_of(recorded, "index", "invoke_index", "complete_index")
    events = {index: tuple(one for one in ends if one is not None) for index, *ends in rows}
    findings = tuple(
        msgspec.structs.replace(one, events=events[one.operation_index])
        if one.events and one.operation_index in events
        else one
        for one in verdict.findings
    )
    return msgspec.structs.replace(verdict, findings=findings)
