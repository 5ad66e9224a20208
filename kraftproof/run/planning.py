"""Plan a run: check all options, and draw the fault schedule.

This module imports no checker, so that an error in the options is reported at once. See runner.py
for the run.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from random import Random

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import OF_LINKS, ClusterOptions, NodeInfo
from kraftproof.cluster.systems.calls import capabilities_of
from kraftproof.cluster.systems.registry import make_system
from kraftproof.cluster.systems.system import System, SystemUnavailableError
from kraftproof.errors import UsageError
from kraftproof.nemesis.catalogue import planner
from kraftproof.nemesis.fault import Fault, strange_nodes
from kraftproof.nemesis.schedule import QUIET_SHARE, Schedule, busy_windows, quiet_windows, spaced
from kraftproof.nemesis.subsets import subsets
from kraftproof.options import RunOptions, refuse_store
from kraftproof.run.backends import Backend, make_backend
from kraftproof.run.directory import RunDirectory
from kraftproof.run.run_nodes import nodes_of_run
from kraftproof.workloads.catalogue import make_workload, ours
from kraftproof.workloads.workload import Workload


def plan(options: RunOptions, given: Schedule | None = None) -> Schedule:
    """Check the options of a run, and return its schedule: the given schedule, or a drawn one.

    Raises:
        UsageError: the backend does not support a fault, the cluster has no node of a given fault,
            or the engine can't run; one line.
        ValueError: a nemesis, workload or system is unknown; one line.
    """
    backend = make_backend(options.backend)
    for name in options.nemeses:
        planner(name)
    _refuse_model(make_workload(options.workload))
    system = make_system(options.system)
    requested = cluster_options(options, None, system)
    refuse_system(options, system, requested)
    refuse_store(options.store)
    schedule = given
    if schedule is None:
        schedule = _drawn(options, requested.nodes)
    if given is not None:
        _refuse_strange_nodes(given, requested.nodes)
    for scheduled in schedule:
        _refuse_fault(options, system, requested, scheduled.fault, backend)
    if options.engine == "spark":
        _refuse_missing_spark()
    return schedule


def _drawn(options: RunOptions, nodes: Sequence[NodeInfo]) -> Schedule:
    """Draw the schedule of a run from its seed."""
    random, limit_ns = Random(f"schedule {options.seed}"), options.time_limit_ns
    every_ns = options.fault_every_ns
    if options.at_once == 1:
        return spaced(options.nemeses, nodes, random, limit_ns, every_ns=every_ns)
    most = options.at_once
    return subsets(options.nemeses, nodes, random, limit_ns, at_once=most, every_ns=every_ns)


def _refuse_strange_nodes(schedule: Schedule, nodes: Sequence[NodeInfo]) -> None:
    for scheduled in schedule:
        with blamed(plugin("nemesis", scheduled.kind, scheduled.fault), "resolved"):
            strange = strange_nodes(scheduled.fault, nodes)
        if strange:
            raise UsageError(
                f"{scheduled.describe().strip()}: node {strange[0]}: the nodes are 1 to "
                f"{len(nodes)}"
            )


def _refuse_missing_spark() -> None:
    """Refuse the Spark engine where its extra or Java is missing."""
    if find_spec("pyspark") is None:
        raise UsageError("--engine spark needs the extra spark: pip install 'kraftproof[spark]'")
    if not has_java():
        raise UsageError(
            "--engine spark: there is no java on PATH or in JAVA_HOME; install a JRE of Java 17 "
            "or newer, or use --engine inline"
        )


def preflight(options: RunOptions) -> None:
    """Look whether this machine, and the hosts of the run, have what the backend needs.

    Raises:
        ClusterError: something is missing; one line.
    """
    make_backend(options.backend).preflight(cluster_options(options, None))


def _times(count: int) -> str:
    return {0: "not at all", 1: "once"}.get(count, f"{count} times")


def foreseen(schedule: Schedule, options: RunOptions) -> tuple[str, ...]:
    """Return the system's remarks, and a sentence for each guard that the schedule can't meet."""
    planned = [one.kind for one in schedule]
    sentences = [*_remarks(options)]
    sentences += [
        f"{kind} is planned {_times(planned.count(kind))}, which can't give a valid verdict: "
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


def _remarks(options: RunOptions) -> tuple[str, ...]:
    system = make_system(options.system)
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "remarks"):
        found: object = system.remarks()
    if not isinstance(found, tuple | list) or not all(isinstance(one, str) for one in found):
        raise returned(culprit, "remarks", found, "a tuple of texts")
    return tuple(found)


def cluster_options(
    options: RunOptions,
    directory: RunDirectory | None,
    system: System | None = None,
    schedule: Schedule = (),
    is_collected: bool = True,  # noqa: FBT001, FBT002 - as in ClusterOptions
) -> ClusterOptions:
    """Return the options of the cluster for the backend and the faults of a schedule."""
    chosen = make_system(options.system) if system is None else system
    return ClusterOptions(
        nodes=nodes_of_run(options, chosen),
        seed=options.seed,
        directory=options.store if directory is None else directory.path,
        timeouts=options.timeouts,
        backend=options.backend,
        hosts=options.hosts,
        mutant=options.mutant,
        system_version=options.system_version,
        node_config=options.node_config,
        needs=frozenset(one.fault.requires for one in schedule),
        has_data=bool(getattr(make_workload(options.workload), "has_data", False)),
        owns_settings=bool(getattr(make_workload(options.workload), "owns_settings", False)),
        has_security=bool(getattr(make_workload(options.workload), "has_security", False)),
        is_collected=is_collected,
    )


def has_java() -> bool:
    """Return whether Java is installed; checked before the run, since Spark starts after it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") is not None or (
        home is not None and (Path(home) / "bin" / "java").exists()
    )


def _refuse_model(workload: Workload) -> None:
    """Refuse a plug-in with an unknown model, since the check notices the model after the run only.

    Raises:
        CheckerInputError: the model is unknown, or can't be imported.
    """
    if workload.name not in ours():
        # Slow to import, and not needed for built-in workloads.
        from kraftproof.checkers.models import model_named

        model_named(workload.model)


def refuse_system(options: RunOptions, system: System, requested: ClusterOptions) -> None:
    """Refuse a backend, a mutant, a workload, nodes or settings that the system can't have.

    Raises:
        UsageError: the system does not run on the backend, plants no mutants, or has no clients
            for the workload.
        SystemUnavailableError: the system refuses its nodes or settings.
    """
    if options.backend not in system.backends:
        able = ", ".join(system.backends)
        raise UsageError(
            f"--backend {options.backend}: the system {system.name} runs only on {able}"
        )
    if options.mutant is not None and not system.takes_mutants:
        raise UsageError(
            f"--mutant {options.mutant}: the bug is one of our node, which the system "
            f"{system.name} does not run; only --system reference and mixed do"
        )
    refuse_workload(options.workload, system)
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "refuse", SystemUnavailableError):
        # A text would be lost: a system refuses by an error.
        found: object = system.refuse(requested)  # type: ignore[func-returns-value]
    if found is not None:
        raise returned(culprit, "refuse", found, "None, or an error SystemUnavailableError")


def default_workload(system: System) -> str:
    """Return the workload of a run that names none: the first that the system declares."""
    return next(iter(system.workloads), RunOptions().workload)


def with_default_workload(options: RunOptions) -> RunOptions:
    """Return the options with the default workload of their system.

    Raises:
        ValueError: the system is unknown; one line.
    """
    return replace(options, workload=default_workload(make_system(options.system)))


def refuse_workload(workload: str, system: System) -> None:
    """Refuse a workload of ours without clients; a plug-in may bring clients of its own.

    Raises:
        UsageError: the system's clients do not serve the workload.
    """
    if workload in ours() and system.workloads and workload not in system.workloads:
        served = ", ".join(system.workloads)
        raise UsageError(
            f"--workload {workload}: the clients of the system {system.name} serve only {served}"
        )


def _refuse_fault(
    options: RunOptions,
    system: System,
    requested: ClusterOptions,
    fault: Fault,
    backend: Backend,
) -> None:
    if fault.requires in OF_LINKS and len(requested.nodes) == 1:
        raise UsageError(
            f"--nemesis {fault.kind}: the run has a single node, and a single node has no link to "
            "another node; give more nodes with --nodes, or another fault"
        )
    capabilities = backend.capabilities
    able = capabilities_of(system, capabilities)
    if fault.requires in able:
        reason = backend.lacks(fault.requires, requested)
        if reason is not None:
            unable = f"the {options.backend} backend can't do that here: {reason}"
            raise UsageError(f"--nemesis {fault.kind}: {unable}")
        return
    can = ", ".join(sorted(able)) or "nothing"
    unable = f"the {options.backend} backend can't do that"
    if fault.requires in capabilities:
        unable = f"the system {system.name} can't have that on {options.backend}"
        with blamed(plugin("system", system.name, system), "why_not"):
            reason = system.why_not(fault.requires)
        unable += "" if reason is None else f" ({reason})"
    raise UsageError(f"--nemesis {fault.kind}: {unable}, only {can}")
