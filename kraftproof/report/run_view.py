"""The data of a report, read from the run directory, so that old runs have reports as well.

Times are nanoseconds of the history's clock. See `checkers.verdict.RunVerdict` for the verdict.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from kraftproof.checkers.history.faults import FaultEvent, FaultSpan, fault_spans, read_faults
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.read import located_operations_of
from kraftproof.checkers.run_description import Node
from kraftproof.checkers.verdict import CheckerInputError, Finding
from kraftproof.errors import UsageError
from kraftproof.options import options_of_json
from kraftproof.run.directory import RunDirectory

SHOWN: Final = ("kraftproof", "python", "started", "system", "workload", "nodes", "options")
"""The fields of run.json that the pages show."""


class Timed(NamedTuple):
    """An operation with its invocation and completion times."""

    f: str
    status: str
    invoke_ns: int
    complete_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """The data of a run directory for its report.

    Attributes:
        directory: The directory.
        run: The content of run.json.
        operations: The operations with both times, in the order of their completions.
        faults: All fault events.
        spans: The times of each fault.
        started_ns: Start of the time axis.
        ended_ns: End of the time axis; no operation, fault or finding is later.
    """

    directory: RunDirectory
    run: dict[str, Any]
    operations: tuple[Timed, ...]
    faults: tuple[FaultEvent, ...]
    spans: tuple[FaultSpan, ...]
    started_ns: int
    ended_ns: int

    @property
    def options(self) -> dict[str, Any]:
        """The options of the run."""
        options: dict[str, Any] = self.run["options"]
        return options

    @property
    def nodes(self) -> str:
        """The number of nodes of each role, such as `3 controllers and 3 brokers`."""
        nodes = msgspec.convert(self.run["nodes"], tuple[Node, ...])
        counts = Counter(node.roles[0] for node in nodes)
        return " and ".join(f"{n} {role}{'s' * (n != 1)}" for role, n in counts.items())

    def history(self) -> Iterator[Operation]:
        """Yield all operations in the order of their completions; none of an unreadable history."""
        return operations_in(self.directory.history)


def operations_in(history: Path) -> Iterator[Operation]:
    """Yield the operations of the readable part of a history in the order of their completions."""
    try:
        yield from located_operations_of(history)
    except CheckerInputError:
        return  # the verdict already reports an unreadable history


def read_shown_run(directory: RunDirectory) -> dict[str, Any]:
    """Return run.json with all fields that the pages show.

    Raises:
        UsageError: the directory is no run directory, or a field or an option is missing.
        CheckerInputError: run.json is damaged.
    """
    run = directory.read_run()
    missing = [field for field in SHOWN if field not in run]
    if missing:
        raise UsageError(
            f"{directory.path}/run.json: no {' and no '.join(missing)}, which a report shows: "
            "another version of Kraftproof wrote the run"
        )
    try:
        options_of_json(run["options"], directory.path)
    except UsageError as error:
        raise UsageError(f"{directory.path}/run.json: {error}") from error
    return run


def read_view(directory: RunDirectory, findings: Sequence[Finding]) -> RunView:
    """Read the data of a run directory.

    Raises:
        UsageError: the directory is no run directory.
    """
    timed = [
        Timed(one.f, one.status, one.invoke_time, one.complete_time)
        for one in operations_in(directory.history)
        if one.invoke_time is not None and one.complete_time is not None
    ]
    try:
        faults = read_faults(directory.faults)
    except CheckerInputError:
        faults = []
    moments = [one.time_ns for one in findings if one.time_ns is not None]
    begins = [one.invoke_ns for one in timed] + [one.time for one in faults] + moments
    ends = [one.complete_ns for one in timed] + [one.time for one in faults] + moments
    started_ns = min(begins, default=0)
    return RunView(
        directory=directory,
        run=read_shown_run(directory),
        operations=tuple(timed),
        faults=tuple(faults),
        spans=fault_spans(faults),
        started_ns=started_ns,
        ended_ns=max([*ends, started_ns + 1]),
    )
