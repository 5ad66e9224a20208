"""Read a recorded run, to do the run again: options, faults and the findings of its verdict.

run.json has the options and a line per fault. kraftproof/commands/replay.py does the runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kraftproof.checkers.run_outcome import read_outcome
from kraftproof.checkers.verdict import Finding, FindingKind
from kraftproof.cluster.backends import BACKENDS
from kraftproof.cluster.compose_reference import is_compose
from kraftproof.cluster.plugin_file import is_in_file
from kraftproof.errors import UsageError
from kraftproof.nemesis.schedule import Schedule
from kraftproof.nemesis.schedule_file import ScheduleFileError, parse_fault_line
from kraftproof.options import RunOptions, options_of_json
from kraftproof.run.directory import RunDirectory

FIRST_LIVE: Final = "local"
"""The backend for another system than that of a simulated run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A recorded run as its directory describes it.

    Attributes:
        path: The run directory.
        options: The options, with the store of the new runs.
        fault_lines: A line per fault; None if the seed draws the faults anew.
        is_guarded: Whether the guards against a vacuous pass hold; a search has none.
    """

    path: Path
    options: RunOptions
    fault_lines: tuple[str, ...] | None
    is_guarded: bool

    def schedule(self) -> Schedule | None:
        """Return the faults; None if the seed draws the faults anew.

        Raises:
            UsageError: a line is no fault, for example of a plug-in that is not installed.
        """
        if self.fault_lines is None:
            return None
        try:
            return tuple(
                parse_fault_line(line, f"f{number}") for number, line in enumerate(self.fault_lines)
            )
        except ScheduleFileError as error:
            raise UsageError(f"{self.path}/run.json: schedule: {error}") from error


def read_recorded(path: Path, store: Path) -> RecordedRun:
    """Return the run of a directory.

    Raises:
        UsageError: the directory is no run directory, or another version wrote the run.
        CheckerInputError: run.json or the outcome of the run is damaged.
    """
    run = RunDirectory(path=path).read_run()
    lines = run.get("schedule")
    if "schedule" not in run:
        raise UsageError(f"{path}/run.json: schedule is missing: an older version wrote the run")
    try:
        options = options_of_json(run.get("options", {}), store)
    except UsageError as error:
        raise UsageError(f"{path}/run.json: {error}") from error
    outcome = read_outcome(path)
    return RecordedRun(
        path=path,
        options=options,
        fault_lines=None if lines is None else tuple(lines),
        is_guarded=outcome is None or outcome.is_guarded,
    )


def on_ground(options: RunOptions, ground: str | None, hosts: Path | None = None) -> RunOptions:
    """Return the options on another backend, or for another system: `NAME` or `NAME:VERSION`.

    A class of a file and a Compose file have no version.

    A planted bug stays only in the system that it was planted in.

    Raises:
        UsageError: the backend needs a file of hosts, or takes none.
    """
    if ground is not None and ground in BACKENDS:
        kept = options.hosts if BACKENDS[ground].takes_hosts else None
        return replace(options, backend=ground, hosts=hosts or kept)
    if hosts is not None:
        options = replace(options, hosts=hosts)
    if ground is None:
        return options
    system, colon, release = ground.partition(":")
    version = release if colon else None
    if is_in_file(ground) or is_compose(ground):
        system, version = ground, None
    return replace(
        options,
        backend=FIRST_LIVE if options.is_virtual else options.backend,
        system=system,
        system_version=version,
        mutant=options.mutant if system == options.system else None,
    )


def checks_with_findings(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the names of the checks with findings, safety first, each once."""
    ordered = sorted(findings, key=lambda one: one.kind is not FindingKind.SAFETY)
    return tuple(dict.fromkeys(one.check for one in ordered))
