"""A Host: the machine, container or process group on which a node runs.

A process of this machine, a container and a machine behind ssh are kinds of Host. What is done to
a node is written once over this protocol: see live_cluster.py, firewall.py, clock.py, probe.py.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kraftproof.cluster.protocol import PROXIED, Address, Capability, ClusterError, NodeInfo
from kraftproof.cluster.systems.deployment import Deployment

if TYPE_CHECKING:
    from kraftproof.cluster.remote.live_links import Proxies

Ports = Mapping[int, Mapping[str, int]]
"""The named ports of each node, as the system has them."""
Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Take a line of progress that nobody reads."""
    del line


class Shell(Protocol):
    """Runs commands in a node's network, as its administrator."""

    async def run(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a command; return its exit status and what it printed."""
        ...

    async def run_python(self, script: str, *arguments: str) -> tuple[int, str]:
        """Run a script that needs the standard library only; returns as `run` does."""
        ...


class Host(Shell, Protocol):
    """Machine, container or process slot on which a node runs."""

    @property
    def directory(self) -> Path:
        """The node's own directory, by the path that the node sees (see also Hosts.directory)."""
        ...

    @property
    def python(self) -> str:
        """A Python 3 interpreter there."""
        ...

    @property
    def sees_machine(self) -> bool:
        """Whether the node sees all files of the machine on which the harness runs."""
        return False

    @property
    def uploads(self) -> Path | None:
        """The folder for the node's software, on a host that has no image."""
        return None

    @property
    def monotonic_offset_ns(self) -> int:
        """The monotonic clock of the host minus that of the harness, in ns."""
        return 0

    @property
    def trusted(self) -> tuple[str, ...]:
        """Conditions of iptables for packets that no fault may drop, such as the harness's own."""
        return ()

    @property
    def addresses(self) -> Mapping[str, Address]:
        """Return the addresses at which the node listens, by the name of the port."""
        ...

    async def put(self, path: Path, data: bytes) -> None:
        """Write a file whole, in place of an older one."""
        ...

    async def make_directory(self, path: Path) -> None:
        """Make a directory and those above it."""
        await asyncio.to_thread(path.mkdir, parents=True, exist_ok=True)

    async def refresh(self) -> None:
        """Bring the logs of the node to the harness, where the harness does not see them."""
        return

    async def deploy(self, deployment: Deployment) -> None:
        """Take what the node is made of; its files and data directories are there already.

        Raises:
            ClusterError: a set-up command failed, or there is no such image.
        """
        ...

    def expect_taken(self, ports: frozenset[int]) -> None:
        """Take note that a fault holds these ports of the node, and no other run."""
        del ports

    async def start(self) -> None:
        """Start the node; one that runs is left alone."""
        ...

    async def kill(self) -> None:
        """End the node with SIGKILL; one that is down is left alone."""
        ...

    async def stop(self) -> None:
        """End the node with the deployment's stop signal; SIGKILL after ten seconds."""
        ...

    async def pause(self) -> None:
        """Stop the node where it stands."""
        ...

    async def resume(self) -> None:
        """Let a paused node go on."""
        ...

    async def process_id(self) -> int | None:
        """The id of the node's process (new at each start), or None when the node is down."""
        ...

    async def exit_status(self) -> int | None:
        """Return the exit status of a node that has ended, minus a signal; None if not known."""
        return None

    async def is_paused(self) -> bool:
        """Return whether the node is paused, as the operating system sees it."""
        ...

    async def health_lack(self) -> str | None:
        """Return why the node's own health check has not passed; None if it has, or without one."""
        return None

    async def has_health_check(self) -> bool:
        """Return whether the node, which has started, has a health check of its own."""
        return True


class Hosts(Protocol):
    """All hosts of one run: found or made, and given back."""

    @property
    def backend(self) -> str:
        """The backend's name."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return the faults that the hosts can give to nodes."""
        ...

    @property
    def preloads(self) -> bool:
        """Whether nodes that report their clock in a file start with libfaketime."""
        return True

    @property
    def has_firewall(self) -> bool:
        """Whether each node has a network of its own, whose firewall may cut links."""
        return True

    @property
    def proxied(self) -> frozenset[Capability]:
        """The faults for which the links of a run lead through proxies."""
        return PROXIED

    def directory(self, node: NodeInfo) -> Path:
        """Return the directory of a node, as the harness sees it."""
        ...

    async def provision(self, ports: Ports) -> Mapping[int, Host]:
        """Make or find a host for each node, with an address for each of its ports.

        Raises:
            ClusterError: no host is available; the message is one line with the reason.
        """
        ...

    async def proxies(self, seed: int) -> "Proxies":
        """Start the proxies of all links between the hosts, before the nodes start.

        Raises:
            ClusterError: the hosts can have no proxies.
        """
        del seed
        raise ClusterError(f"the {self.backend} backend has no proxies for links")

    async def started(self) -> None:
        """Take note that nodes were started, so that a sweep finds them if the harness dies."""
        ...

    async def remove(self) -> None:
        """End every node, and give back what `provision` made; files stay."""
        ...
