"""Look up fault planners by name: the built-in nemeses and those of installed plug-ins.

A new built-in nemesis needs one file in this folder and one line below. A plug-in registers its
planner as an entry point of the group `kraftproof.faults`.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from random import Random
from typing import cast, get_type_hints

from kraftproof.cluster.plugin import (
    PluginError,
    blamed,
    loaded_function,
    plugin,
    require_new_names,
    returned,
    shown,
)
from kraftproof.cluster.plugin_attributes import Expected, is_named, require_attributes
from kraftproof.cluster.plugin_file import function_of_file, is_in_file
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.aimed_crash import AimedCrash, plan_aimed_crash
from kraftproof.nemesis.bit_rot import BitRot, plan_bit_rot
from kraftproof.nemesis.clock import (
    ClockBump,
    ClockDrift,
    ClockStrobe,
    Drift,
    plan_clock,
    plan_clock_drift,
    plan_clock_strobe,
    plan_drift,
)
from kraftproof.nemesis.degrade import (
    Bandwidth,
    Latency,
    LimitData,
    Loss,
    Reset,
    SlowClose,
    Stall,
    plan_bandwidth,
    plan_latency,
    plan_limit_data,
    plan_loss,
    plan_reset,
    plan_slow_close,
    plan_stall,
)
from kraftproof.nemesis.disk import (
    DiskError,
    DiskFull,
    FailedDirectory,
    SlowDisk,
    Wipe,
    plan_disk_error,
    plan_disk_full,
    plan_failed_directory,
    plan_slow_disk,
    plan_wipe,
)
from kraftproof.nemesis.fault import Fault, Planner
from kraftproof.nemesis.isolate import Isolate, plan_isolate
from kraftproof.nemesis.kill import Kill, KillAll, plan_kill, plan_kill_all
from kraftproof.nemesis.limits import CpuLimit, MemoryLimit, plan_cpu, plan_memory
from kraftproof.nemesis.lose_unsynced import LoseUnsynced, plan_lose_unsynced
from kraftproof.nemesis.partition import Cut, plan_partition
from kraftproof.nemesis.pause import Pause, plan_pause
from kraftproof.nemesis.restart import Restart, plan_restart
from kraftproof.nemesis.restarts.lost_name import LostName, plan_lost_name
from kraftproof.nemesis.restarts.rolling import RollingRestart, plan_rolling
from kraftproof.nemesis.restarts.stop import Stop, plan_stop
from kraftproof.nemesis.restarts.taken_port import TakenPort, plan_taken_port
from kraftproof.spelling import nearest

ENTRY_POINTS = "kraftproof.faults"
RENAMED = {"moot": "skipped", "before": "baseline", "bitten": "observed_effect"}
"""The calls of a fault by their old names."""
ATTRIBUTES: Expected = {"kind": (is_named, "a text")}
"""The attributes of a fault; `requires` is asked for apart."""

_OURS: dict[str, Planner] = {
    Kill.kind: plan_kill,
    KillAll.kind: plan_kill_all,
    Pause.kind: plan_pause,
    Restart.kind: plan_restart,
    Stop.kind: plan_stop,
    RollingRestart.kind: plan_rolling,
    Cut.kind: plan_partition,
    Isolate.kind: plan_isolate,
    ClockBump.kind: plan_clock,
    LoseUnsynced.kind: plan_lose_unsynced,
    ClockStrobe.kind: plan_clock_strobe,
    ClockDrift.kind: plan_clock_drift,
    Drift.kind: plan_drift,
    DiskFull.kind: plan_disk_full,
    DiskError.kind: plan_disk_error,
    SlowDisk.kind: plan_slow_disk,
    Wipe.kind: plan_wipe,
    FailedDirectory.kind: plan_failed_directory,
    BitRot.kind: plan_bit_rot,
    AimedCrash.kind: plan_aimed_crash,
    Loss.kind: plan_loss,
    Reset.kind: plan_reset,
    Stall.kind: plan_stall,
    Latency.kind: plan_latency,
    Bandwidth.kind: plan_bandwidth,
    SlowClose.kind: plan_slow_close,
    LimitData.kind: plan_limit_data,
    CpuLimit.kind: plan_cpu,
    MemoryLimit.kind: plan_memory,
    TakenPort.kind: plan_taken_port,
    LostName.kind: plan_lost_name,
}


class UnknownNemesisError(ValueError):
    """The name belongs to no nemesis; the message is one line."""


def nemesis_names() -> tuple[str, ...]:
    """Return the names of all nemeses, built-in nemeses first."""
    return (*_OURS, *sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def ours() -> Mapping[str, type[Fault]]:
    """Return the fault classes of the built-in nemeses, by name."""
    return {name: get_type_hints(plan)["return"] for name, plan in _OURS.items()}


def planner(name: str) -> Planner:
    """Return the planner of a nemesis, also of path/to/file.py:function.

    Raises:
        UnknownNemesisError: the name belongs to no nemesis.
        PluginLoadError: the plug-in can't be imported.
    """
    ours = _OURS.get(name)
    if ours is not None:
        return ours
    if is_in_file(name):
        of_file: Planner = function_of_file("fault", name)
        return of_file
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            found: Planner = loaded_function("fault", point)
            return found
    known = nemesis_names()
    raise UnknownNemesisError(
        f"unknown nemesis {name!r}{nearest(name, known)}: one of {', '.join(known)}"
    )


def drawn(name: str, random: Random, nodes: Sequence[NodeInfo]) -> Fault:
    """Draw a fault of a nemesis.

    Raises:
        PluginError: the planner raises, or its result is no fault.
    """
    draw = planner(name)
    culprit = plugin("fault", name, draw)
    with blamed(culprit, "its planner"):
        fault: object = draw(random, nodes)
    if not all(callable(getattr(fault, call, None)) for call in ("apply", "heal")):
        raise returned(culprit, "its planner", fault, "a Fault")
    require_attributes("fault", name, fault, ATTRIBUTES)
    requires = getattr(fault, "requires", None)
    if not isinstance(requires, Capability):
        named, known = f"{type(fault).__name__}.requires", ", ".join(Capability)
        wrong = f"{named} is {shown(requires)}, no capability; one of {known} is expected"
        raise PluginError(culprit, wrong)
    require_new_names(culprit, fault, RENAMED)
    return cast("Fault", fault)
