"""The files of one local node: its server.properties, its data, its output and its trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftproof.cluster.live.server_properties import Address, server_properties
from kraftproof.cluster.local.ports import LOOPBACK
from kraftproof.cluster.protocol import NodeInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDirectory:
    """Where one node keeps what it has."""

    path: Path

    @property
    def properties(self) -> Path:
        """The node's configuration."""
        return self.path / "server.properties"

    @property
    def output(self) -> Path:
        """What the node printed, over all its starts."""
        return self.path / "output.log"

    def write_properties(
        self,
        node: NodeInfo,
        ports: Mapping[int, int],
        voters: tuple[int, ...],
        settings: Mapping[str, str],
    ) -> None:
        """Write the configuration of a node; `ports` has one for each node."""
        self.path.mkdir(parents=True, exist_ok=True)
        addresses = {
            node_id: Address(host=LOOPBACK, port=port, peer_host=LOOPBACK)
            for node_id, port in ports.items()
        }
        text = server_properties(node, addresses, voters, self.path, settings)
        self.properties.write_text(text, encoding="utf-8")

    def last_output(self) -> str:
        """Return the last line that the node printed."""
        if not self.output.exists():
            return ""
        lines = self.output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
