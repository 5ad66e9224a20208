"""The backends by name: the one list, for options, for runs and for systems.

See kraftproof/run/backends.py for what runs a cluster on each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendFacts:
    """Description of a backend that is known before its package is imported.

    Attributes:
        runner: The class that runs a cluster on it, as module:Class.
        measurement_error_ns: How wrong the harness's own times may be.
        is_virtual: Whether time is virtual and the nodes are objects of this process.
        takes_hosts: Whether a run needs a file of hosts.
    """

    runner: str
    measurement_error_ns: int
    is_virtual: bool = False
    takes_hosts: bool = False


BACKENDS: Final[Mapping[str, BackendFacts]] = {
    "local": BackendFacts(
        runner="kraftproof.run.live.backends:LocalBackend", measurement_error_ns=5_000_000
    ),
    "docker": BackendFacts(
        runner="kraftproof.run.live.backends:DockerBackend", measurement_error_ns=5_000_000
    ),
    "ssh": BackendFacts(
        runner="kraftproof.run.live.backends:SshBackend",
        measurement_error_ns=50_000_000,  # the clocks of hosts are compared over the network
        takes_hosts=True,
    ),
    "simulated": BackendFacts(
        runner="kraftproof.run.backends:SimulatedBackend",
        measurement_error_ns=0,
        is_virtual=True,
    ),
}
LIVE: Final = tuple(name for name, facts in BACKENDS.items() if not facts.is_virtual)
"""Backends whose nodes are processes in real time."""
