"""Watch the nodes of a target: life, memory, and the service to an honest client."""

import os
from dataclasses import dataclass
from pathlib import Path

from kraftproof.cluster.systems.reference.requests.honest import first_complaint
from kraftproof.cluster.systems.reference.requests.target import Target

MOST_GROWN_BYTES = 30 << 20
"""Maximum growth of a node's resident memory since the start, in bytes."""
PATIENCE_NS = 20_000_000_000
"""Time in which an honest client must be served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A problem of a node, apart from its answers."""

    node_id: int
    reason: str


class Watch:
    """The processes and the memory of the nodes at the start."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._processes: dict[int, int | None] = {}
        self._resident: dict[int, int] = {}
        self.grown_bytes = 0
        """Largest growth of a node's resident memory since the start, in bytes."""

    async def start(self) -> Sight | None:
        """Serve an honest client, then record the processes and the memory of the nodes."""
        complaint = await self.serves()
        for node in self._target.nodes:
            pid = await self._pid(node.node_id)
            self._processes[node.node_id] = pid
            resident = self._resident_bytes(pid)
            if resident is not None:
                self._resident[node.node_id] = resident
        return complaint

    async def look(self) -> Sight | None:
        """Return the first dead node, or the first node with too much memory."""
        for node_id, was in self._processes.items():
            pid = await self._pid(node_id)
            if was is not None and pid != was:
                return Sight(node_id=node_id, reason="the node has died")
            resident, begun = self._resident_bytes(pid), self._resident.get(node_id)
            if resident is None or begun is None:
                continue
            self.grown_bytes = max(self.grown_bytes, resident - begun)
            if resident - begun > MOST_GROWN_BYTES:
                grown = (resident - begun) / 2**20
                most = MOST_GROWN_BYTES >> 20
                reason = f"the node has taken {grown:.0f} MB more memory, {most} MB are allowed"
                return Sight(node_id=node_id, reason=reason)
        return None

    async def serves(self) -> Sight | None:
        """Return the complaint of an honest client."""
        target = self._target
        complaint = await first_complaint(target.connect, target.scope, PATIENCE_NS)
        if complaint is None:
            return None
        return Sight(node_id=0, reason=f"an honest client is not served: {complaint}")

    async def _pid(self, node_id: int) -> int | None:
        cluster = self._target.cluster
        return None if cluster is None else await cluster.process_id(node_id)

    def _resident_bytes(self, pid: int | None) -> int | None:
        """Return the resident memory of a process of this machine; None for other nodes."""
        cluster = self._target.cluster
        if pid is None or cluster is None or cluster.backend != "local":
            return None
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        except OSError:
            return None
        return pages * os.sysconf("SC_PAGE_SIZE")
