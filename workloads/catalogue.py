"""Look up workloads by name: the built-in workloads and those of installed plug-ins.

A new built-in workload needs one file in this folder and one line below. A plug-in registers its
class as an entry point of the group `kraftproof.workloads`.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from kraftproof.cluster.plugin import loaded
from kraftproof.cluster.plugin_attributes import Expected, is_named, is_texts, require_attributes
from kraftproof.spelling import nearest
from kraftproof.workloads.administration.acls import Acls
from kraftproof.workloads.administration.credentials import Credentials
from kraftproof.workloads.administration.quotas import Quotas
from kraftproof.workloads.administration.tokens import Tokens
from kraftproof.workloads.append import Append
from kraftproof.workloads.bank import Bank
from kraftproof.workloads.configs import Configs
from kraftproof.workloads.counter import Counter
from kraftproof.workloads.lock import Lock
from kraftproof.workloads.log import Log
from kraftproof.workloads.log_topics import LogTopics
from kraftproof.workloads.queue import Queue
from kraftproof.workloads.register import Register
from kraftproof.workloads.registration import Registration
from kraftproof.workloads.replicas.controlled_shutdown import ControlledShutdown
from kraftproof.workloads.replicas.reassignment import Reassignment
from kraftproof.workloads.sets import GrowingSet
from kraftproof.workloads.topic_names import TopicNames
from kraftproof.workloads.topics import Topics
from kraftproof.workloads.workload import Workload

ENTRY_POINTS = "kraftproof.workloads"
SELDOM = (
    *("log",) * 4,
    *("reassignment", "controlled-shutdown") * 2,
    *("configs", "acls", "quotas", "credentials", "tokens", "log-topics"),
)
"""The workloads of the data plane and of the administration that few seeds of a search draw.

Repeated names have a larger weight.
"""
CALLS = ("run", "final_reads")
"""The methods that a workload must have."""

_OURS: dict[str, Callable[[], Workload]] = {
    Topics.name: Topics,
    TopicNames.name: TopicNames,
    Registration.name: Registration,
    Log.name: Log,
    LogTopics.name: LogTopics,
    Reassignment.name: Reassignment,
    ControlledShutdown.name: ControlledShutdown,
    Configs.name: Configs,
    Acls.name: Acls,
    Credentials.name: Credentials,
    Tokens.name: Tokens,
    Quotas.name: Quotas,
    Register.name: Register,
    Append.name: Append,
    GrowingSet.name: GrowingSet,
    Queue.name: Queue,
    Counter.name: Counter,
    Lock.name: Lock,
    Bank.name: Bank,
}


class UnknownWorkloadError(ValueError):
    """The name belongs to no workload; the message is one line."""


REQUIRED: Final[Expected] = {"name": (is_named, "a text"), "model": (is_named, "a text")}
OPTIONAL: Final[Expected] = {
    "initial": (is_texts, "a tuple of texts"),
    **{
        name: (lambda value: isinstance(value, bool), "True or False")
        for name in ("has_data", "has_security", "owns_settings")
    },
}
"""The attributes of a workload, and those that it may have."""


def workload_names() -> tuple[str, ...]:
    """Return the names of all workloads, built-in workloads first."""
    return (*_OURS, *sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def ours() -> Mapping[str, Callable[[], Workload]]:
    """Return the built-in workloads, by name."""
    return _OURS


def make_workload(name: str) -> Workload:
    """Return a new workload for one run.

    Raises:
        UnknownWorkloadError: the name belongs to no workload.
        PluginLoadError: the plug-in can't be imported or constructed, lacks a method, or has an
            attribute of a wrong kind.
    """
    ours = _OURS.get(name)
    if ours is not None:
        return ours()
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            made: Workload = loaded("workload", point, CALLS)
            require_attributes("workload", name, made, REQUIRED)
            require_attributes("workload", name, made, OPTIONAL, may_lack=True)
            return made
    known = workload_names()
    raise UnknownWorkloadError(
        f"unknown workload {name!r}{nearest(name, known)}: one of {', '.join(known)}"
    )
