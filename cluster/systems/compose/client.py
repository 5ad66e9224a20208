"""Base of a client for the services of a Compose file: one class in one small file."""

from collections.abc import Mapping
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.system import Client, Guarantee

__all__ = ("ComposeClient",)


class ComposeClient(Client):
    """A client of one node; subclasses have `open`, `invoke` and `close`.

    Attributes:
        workloads: The workloads that the client serves; others are refused before the start.
        services: The services that have clients; empty for all services.
        errors: What the errors say about an operation.
        guarantees: What the system declares for each operation.
        probe: A request that a node which is alive answers with at least one byte, on its first
            port; without a request an accepted connection counts.
        ready_s: The longest time from the start of the nodes to a ready cluster, in seconds.
        cluster: The cluster; `cluster.address(self.node, "client")` is where the node listens.
        workload: The workload of the run.
    """

    workloads: ClassVar[tuple[str, ...]] = ()
    services: ClassVar[tuple[str, ...]] = ()
    errors: ClassVar[ErrorTable] = ErrorTable()
    guarantees: ClassVar[Mapping[str, Guarantee]] = {}
    probe: ClassVar[bytes] = b""
    ready_s: ClassVar[float] = 60.0

    def __init__(self, cluster: Cluster, workload: str, random: Random) -> None:
        self.cluster = cluster
        self.workload = workload
        self._nodes = [
            node.node_id
            for node in cluster.nodes
            if not self.services or any(map(node.has, self.services))
        ]
        random.shuffle(self._nodes)

    @property
    @override
    def node(self) -> int:
        """The node that the client talks to, or would talk to next."""
        return self._nodes[0]

    def next_node(self) -> None:
        """Turn to the next node, as after a lost connection."""
        self._nodes.append(self._nodes.pop(0))
