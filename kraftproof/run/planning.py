"""From options to a schedule, refusing whatever can't be run before anything is started.

It imports no checker, so that a mistake is answered at once. See runner.py for the run.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from random import Random

from kraftproof.cluster.node_config import refuse_unusable
from kraftproof.cluster.protocol import Capability, ClusterOptions
from kraftproof.cluster.systems.system import make_system
from kraftproof.errors import UsageError
from kraftproof.nemesis.catalogue import planner
from kraftproof.nemesis.fault import Fault
from kraftproof.nemesis.schedule import QUIET_SHARE, Schedule, busy_windows, quiet_windows, spaced
from kraftproof.node.properties.keys import ConfigError
from kraftproof.options import RunOptions, refuse_store
from kraftproof.run.backends import make_backend
from kraftproof.run.directory import RunDirectory
from kraftproof.workloads.catalogue import make_workload, ours
from kraftproof.workloads.workload import Workload


def plan(options: RunOptions) -> Schedule:
    """Return the schedule of a run, after refusing, before anything is started, what can't be run.

    Raises:
        UsageError: a fault that the backend can't make, or an engine that can't run; one line.
        ValueError: a nemesis, workload or system that is not there; likewise.
    """
    backend = make_backend(options.backend)
    for name in options.nemeses:
        planner(name)
    _refuse_model(make_workload(options.workload))
    make_system(options.system)
    refuse_store(options.store)
    _refuse_node_config(options)
    schedule = spaced(
        options.nemeses,
        cluster_options(options, None).nodes,
        Random(f"schedule {options.seed}"),
        options.time_limit_ns,
        every_ns=options.fault_every_ns,
    )
    for scheduled in schedule:
        _refuse_fault(options, scheduled.fault, backend.capabilities)
    if options.engine == "spark":
        _refuse_missing_spark()
    return schedule


def _refuse_missing_spark() -> None:
    """Refuse the Spark engine where its extra or Java is missing."""
    if find_spec("pyspark") is None:
        raise UsageError("--engine spark needs the extra spark: pip install 'kraftproof[spark]'")
    if not has_java():
        raise UsageError(
            "--engine spark: there is no java on PATH or in JAVA_HOME; install a JRE of Java 17 "
            "or newer, or use --engine inline"
        )


def foreseen(schedule: Schedule, options: RunOptions) -> tuple[str, ...]:
    """Return a sentence for each guard that the schedule can't meet, with what to change."""
    planned = [one.kind for one in schedule]
    sentences = [
        f"{kind} is planned {planned.count(kind)} times in all, which can't give a valid verdict: "
        "give a longer --time-limit, fewer kinds of faults or a shorter --fault-every"
        for kind in options.nemeses
        if planned.count(kind) < options.min_bites
    ]
    quiet = quiet_windows(busy_windows(schedule), options.time_limit_ns)
    share = sum(stop - start for start, stop in quiet) / options.time_limit_ns
    if schedule and share < QUIET_SHARE:
        sentences.append(
            f"{share:.0%} of the run is planned to be quiet, at least {QUIET_SHARE:.0%} is needed "
            "for a valid verdict: give a longer --time-limit or a longer --fault-every"
        )
    return tuple(sentences)


def cluster_options(
    options: RunOptions, directory: RunDirectory | None, *, is_collected: bool = True
) -> ClusterOptions:
    """Return what the backend is told."""
    return ClusterOptions(
        controllers=options.controllers,
        brokers=options.brokers,
        seed=options.seed,
        directory=options.store if directory is None else directory.path,
        timeouts=options.timeouts,
        mutant=options.mutant,
        node_config=options.node_config,
        is_collected=is_collected,
    )


def has_java() -> bool:
    """Whether Spark would find a Java; looked at before a run, since Spark comes after it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") is not None or (
        home is not None and (Path(home) / "bin" / "java").exists()
    )


def _refuse_model(workload: Workload) -> None:
    """Refuse a plug-in whose model is not there, which would be noticed after the run.

    Raises:
        CheckerInputError: there is no such model, or it can't be imported.
    """
    if workload.name not in ours():
        from kraftproof.checkers.models import model_named  # slow to import; ours have their models

        model_named(workload.model)


def _refuse_node_config(options: RunOptions) -> None:
    try:
        refuse_unusable(options.node_config)
    except ConfigError as error:
        raise UsageError(f"--node-config {error}") from error


def _refuse_fault(options: RunOptions, fault: Fault, capabilities: frozenset[Capability]) -> None:
    if fault.requires not in capabilities:
        can = ", ".join(sorted(capabilities))
        raise UsageError(
            f"--nemesis {fault.kind}: the {options.backend} backend can't do that, only {can}"
        )
