"""Reads what a run directory says about its run: run.json, outcome.json and faults.jsonl.

See `checkers.sources` for its history and the nodes' tables.
"""

from pathlib import Path
from typing import Final

import msgspec

from kraftproof.checkers.guards.facts import RunFacts
from kraftproof.checkers.history.faults import (
    FaultEvent,
    FaultSpan,
    disturbances,
    fault_spans,
    read_faults,
)
from kraftproof.checkers.options import MILLISECOND_NS, LeaseBounds
from kraftproof.checkers.run_description import Options, RunDescription, read_description
from kraftproof.checkers.run_outcome import read_outcome

FAULTS_FILE: Final = "faults.jsonl"


class RunFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The facts in a run's files.

    Attributes:
        description: the content of run.json.
        model: the name of the workload's model.
        initial: the initial values stated by the workload, in the form of `--initial`.
        leases: the bounds of leases.
        facts: the input of the guards.
        spans: when each fault was in force.
        guarantees: those that the system declares, by function; empty for a strict judgement.
        leader_changes: when another node began to lead, as (not before, not after).
    """

    description: RunDescription
    model: str
    initial: tuple[str, ...]
    leases: LeaseBounds
    facts: RunFacts
    spans: tuple[FaultSpan, ...]
    guarantees: dict[str, str] = {}
    leader_changes: tuple[tuple[int, int], ...] = ()


def read_run_files(directory: Path) -> RunFiles:
    """Return what the files of a run directory say.

    Raises:
        CheckerInputError: a file can't be read, or is of another form.
    """
    run = read_description(directory)
    faults = read_faults(directory / FAULTS_FILE)
    outcome = read_outcome(directory)
    return RunFiles(
        description=run,
        model=run.workload.model,
        initial=run.workload.initial,
        leases=_leases(run.options, faults),
        facts=RunFacts(
            outcome=outcome,
            is_ours=run.kraftproof != "",
            nemeses=run.options.nemeses,
            bounds=run.options.guards,
            faults=tuple(faults),
            nodes=tuple(node.id for node in run.nodes),
        ),
        spans=fault_spans(faults),
        guarantees=run.guarantees if run.options.expect == "declared" else {},
        leader_changes=() if outcome is None else outcome.leader_changes,
    )


def _leases(options: Options, faults: list[FaultEvent]) -> LeaseBounds:
    return LeaseBounds(
        session_ns=options.session_ms * MILLISECOND_NS,
        failover_ns=options.failover_ms * MILLISECOND_NS,
        measurement_ns=options.measurement_error_ns,
        rate_error=options.monotonic_rate_error,
        disturbed=disturbances(faults),
    )
