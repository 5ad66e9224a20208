"""The workloads by name: ours, and those that other distributions bring by entry point.

A new one of ours is one file here and one line below; another's is an entry point of the group
`kraftproof.workloads` that names a class.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from kraftproof.cluster.plugin import loaded
from kraftproof.workloads.register import Register
from kraftproof.workloads.registration import Registration
from kraftproof.workloads.topics import Topics
from kraftproof.workloads.workload import Workload

ENTRY_POINTS = "kraftproof.workloads"
CALLS = ("run", "final_reads")
"""The methods of a workload."""

_OURS: dict[str, Callable[[], Workload]] = {
    Topics.name: Topics,
    Registration.name: Registration,
    Register.name: Register,
}


class UnknownWorkloadError(ValueError):
    """A name that no workload has; the text is one clear line."""


def workload_names() -> tuple[str, ...]:
    """Return every name, ours first."""
    return (*_OURS, *sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def ours() -> Mapping[str, Callable[[], Workload]]:
    """Return the workloads that come with Kraftproof, by name."""
    return _OURS


def make_workload(name: str) -> Workload:
    """Return a new workload for one run.

    Raises:
        UnknownWorkloadError: there is none of that name.
        PluginLoadError: it can't be imported or made, or lacks a method.
    """
    ours = _OURS.get(name)
    if ours is not None:
        return ours()
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            made: Workload = loaded("workload", point, CALLS)
            return made
    raise UnknownWorkloadError(f"unknown workload {name!r}: one of {', '.join(workload_names())}")
