"""The invariant of requests with another cluster's id (KIP-595 "ClusterId")."""

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, Invariant, ProcessView
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message


class ForeignClusterIdRefused(Invariant):
    """Quorum requests and broker registrations with a foreign cluster id are refused.

    A broker's own listener serves the Fetches of topics, and Kafka's brokers ignore the id there.
    """

    statement = "A request with another cluster's id is refused as a whole."

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._cluster_id = config.cluster_id

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        if not event.on_controller_listener:
            return
        named = getattr(event.message, "cluster_id", None)
        if not named or not self._cluster_id or named == self._cluster_id:
            return
        if not getattr(message, "error_code", 0):
            detail = f"accepts {type(event.message).__name__} of cluster {named}: {message}"
            self.monitor.report_violation(self, process, detail)
