"""Name the plug-in, and the call of the plug-in, for which a run waits or which made a mistake."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from kraftproof.cluster.plugin import Plugin, PluginError, plugin
from kraftproof.cluster.systems.system import System
from kraftproof.workloads.workload import Workload

LONG_NS: Final = 10_000_000_000
"""Time after which a call of a client is reported as not returned: longer than usual time-outs."""


class OpenCall(NamedTuple):
    """A call of a client that has not returned."""

    culprit: Plugin
    call: str
    begun_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprits:
    """The plug-ins of a run by the names that errors give them."""

    system: Plugin
    workload: Plugin


def culprits_of(system: System, workload: Workload) -> Culprits:
    """Name the plug-ins of a run."""
    return Culprits(
        system=plugin("system", getattr(system, "name", "?"), system),
        workload=plugin("workload", getattr(workload, "name", "?"), workload),
    )


def silent(culprit: Plugin, call: str, limit_ns: int) -> PluginError:
    """Return the error of a call that took too long."""
    return PluginError(culprit, f"{call} did not return within {limit_ns / 1e9:g} s")


def unreturned(calls: Iterable[OpenCall], now_ns: int) -> str | None:
    """Return the number of calls without a return for LONG_NS, and the oldest of them."""
    old = [one for one in calls if now_ns - one.begun_ns >= LONG_NS]
    if not old:
        return None
    first = min(old, key=lambda one: one.begun_ns)
    number = "1 call" if len(old) == 1 else f"{len(old)} calls"
    waited = (now_ns - first.begun_ns) // 1_000_000_000
    return (
        f"{number} of clients did not return: {first.call} of {first.culprit} has run for "
        f"{waited} s; a client needs a time-out of its own"
    )
