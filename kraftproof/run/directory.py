"""The run directory: run.json, history.jsonl, faults.jsonl, outcome.json, nodes/, tables/, reports.

This module writes run.json and phases.json.
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from kraftproof.checkers.run_description import RUN_FILE, RUN_VERSION, read_description
from kraftproof.cluster.backends import BACKENDS
from kraftproof.cluster.processes import identify
from kraftproof.cluster.profiles import PROFILES
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.errors import UsageError
from kraftproof.nemesis.clock import rate_error
from kraftproof.nemesis.schedule import QUIET_SHARE, SETTLE_NS, Schedule
from kraftproof.nemesis.schedule_file import ScheduleFileError, fault_line
from kraftproof.options import RunOptions
from kraftproof.workloads.workload import Workload

SCHEDULE_FILE = "schedule.txt"
"""File in the directory of a simulated run kept by a search; `sim --schedule` replays the file."""
DEPENDENCIES = ("immutables", "msgspec", "pyarrow", "pyspark")
"""Packages whose versions run.json records: the libraries of the node and of the checkers."""
RUN_ID_DIGITS = 5
NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDirectory:
    """Paths of the files of a run."""

    path: Path

    @property
    def history(self) -> Path:
        """The history of operations."""
        return self.path / "history.jsonl"

    @property
    def faults(self) -> Path:
        """The events of faults."""
        return self.path / "faults.jsonl"

    @property
    def nodes(self) -> Path:
        """The folder with a directory for each node."""
        return self.path / "nodes"

    @property
    def tables(self) -> Path:
        """The folder of the system-independent tables."""
        return self.path / "tables"

    @property
    def report(self) -> Path:
        """The HTML report."""
        return self.path / "report.html"

    @property
    def markdown(self) -> Path:
        """The report for issue trackers."""
        return self.path / "report.md"

    @property
    def explanations(self) -> Path:
        """The folder of explanations: JSON and a picture per invalid key."""
        return self.path / "explanations"

    @property
    def junit(self) -> Path:
        """The report for CI servers."""
        return self.path / "junit.xml"

    def run_id(self, options: RunOptions) -> str:
        """Return the id that the values of the run carry; a simulated run has that of its seed."""
        if options.is_virtual:
            return f"s{options.seed}"
        made = f"{self.path.absolute()} {identify(os.getpid())}"
        return f"{crc32(made.encode()):08x}"[:RUN_ID_DIGITS]

    def write_run(
        self,
        options: RunOptions,
        workload: Workload,
        nodes: Sequence[NodeInfo],
        schedule: Schedule,
        mutant_hash: str | None,
        guarantees: Mapping[str, str] | None = None,
    ) -> None:
        """Write run.json, and empty files of the history and the faults, before anything starts."""
        profile = PROFILES[options.timeouts]
        run = {
            "schema_version": RUN_VERSION,
            "kraftproof": _version("kraftproof"),
            "python": platform.python_version(),
            "versions": {name: _version(name) for name in DEPENDENCIES},
            "host": host_facts(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "run_id": self.run_id(options),
            "system": options.system,
            "guarantees": {f: str(one) for f, one in (guarantees or {}).items()},
            "workload": {
                "name": options.workload,
                "model": workload.model,
                "initial": list(getattr(workload, "initial", ())),
            },
            "nodes": [
                {"id": node.node_id, "name": node.name, "roles": list(node.roles)} for node in nodes
            ],
            "mutant": options.mutant,
            "mutant_hash": mutant_hash,
            "schedule": _lines(schedule),
            "harness": msgspec.to_builtins(identify(os.getpid())),
            "options": {
                **options.as_json(),
                "session_ms": profile.session_ns // NS_PER_MS,
                "failover_ms": profile.failover_ns // NS_PER_MS,
                "measurement_error_ns": BACKENDS[options.backend].measurement_error_ns,
                "monotonic_rate_error": rate_error(options.nemeses),
                "guards": {
                    "fewest_bitten": options.min_bites,
                    "quiet_share": QUIET_SHARE,
                    "settle_ns": SETTLE_NS,
                },
            },
        }
        text = json.dumps(run, indent=2) + "\n"
        (self.path / RUN_FILE).write_text(text, encoding="utf-8")
        self.history.touch()  # a run that is broken off at once has recorded nothing
        self.faults.touch()

    def write_phases(self, seconds: Mapping[str, float]) -> None:
        """Write phases.json: the duration of each phase of the run, in seconds."""
        text = json.dumps(rounded(seconds), indent=2) + "\n"
        (self.path / "phases.json").write_text(text, encoding="utf-8")

    def read_run(self) -> dict[str, Any]:
        """Return run.json.

        Raises:
            UsageError: the directory is no run directory.
            CheckerInputError: the file is damaged.
        """
        path = self.path / RUN_FILE
        if not path.is_file():
            raise UsageError(f"{self.path}: not a run directory, no readable {RUN_FILE}")
        read_description(self.path)
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])


def rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return times in seconds, rounded to milliseconds."""
    return {phase: round(time, 3) for phase, time in seconds.items()}


def make_run_directory(options: RunOptions) -> RunDirectory:
    """Make a new directory in the store, named by the time, the backend and the workload.

    Raises:
        UsageError: the store can't be written to.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    name = f"{stamp}-{options.backend}-{options.workload}-seed{options.seed}"
    for attempt in range(1000):
        path = options.store / (name if attempt == 0 else f"{name}-{attempt}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UsageError(f"--store {options.store}: {error.strerror}") from error
        return RunDirectory(path=path)
    raise UsageError(f"--store {options.store}: too many runs named {name}")


def host_facts() -> dict[str, object]:
    """Return the properties of this machine that affect the speed of a run; no host names."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    return {
        "system": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": page_bytes * os.sysconf("SC_PHYS_PAGES"),
    }


def _lines(schedule: Schedule) -> list[str] | None:
    """Return a line per fault; None if a fault of a plug-in has no text: its seed draws it anew."""
    try:
        return [fault_line(one) for one in schedule]
    except ScheduleFileError:
        return None


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"
