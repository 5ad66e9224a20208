"""The files of one local node: its server.properties, its data, its output and its trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.local.ports import LOOPBACK
from cluster.profiles import properties
from cluster.protocol import NodeInfo

CONTROLLER_LISTENER = "CONTROLLER"
CLIENT_LISTENER = "PLAINTEXT"


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
        self, node: NodeInfo, ports: Mapping[int, int], voters: tuple[int, ...], timeouts: str
    ) -> None:
        """Write the configuration of a node; `ports` has one for each node."""
        self.path.mkdir(parents=True, exist_ok=True)
        name = CONTROLLER_LISTENER if node.is_controller else CLIENT_LISTENER
        quorum = ",".join(f"{voter}@{LOOPBACK}:{ports[voter]}" for voter in voters)
        entries = {
            "process.roles": "controller" if node.is_controller else "broker",
            "node.id": str(node.node_id),
            "controller.quorum.voters": quorum,
            "listeners": f"{name}://{LOOPBACK}:{ports[node.node_id]}",
            "controller.listener.names": CONTROLLER_LISTENER,
            "log.dirs": str(self.path / "data"),
            "trace.file": str(self.path / "trace.jsonl"),
            **properties(timeouts),
        }
        lines = [f"{key}={value}\n" for key, value in entries.items()]
        self.properties.write_text("".join(lines), encoding="utf-8")

    def last_output(self) -> str:
        """Return the last line that the node printed."""
        if not self.output.exists():
            return ""
        lines = self.output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
