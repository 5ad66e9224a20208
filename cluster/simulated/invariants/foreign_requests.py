"""What must become of requests that name another cluster (KIP-595 "ClusterId"). Not: who asks."""

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, Invariant, ProcessView
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message


class ForeignClusterIdRefused(Invariant):
    """Of the requests of the quorum and of brokers that register, since only those name one."""

    sentence = "A request that names another cluster is refused as a whole."

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._cluster_id = config.cluster_id

    @override
    def replying(self, process: ProcessView, event: Received, message: Message) -> None:
        named = getattr(event.message, "cluster_id", None)
        if not named or not self._cluster_id or named == self._cluster_id:
            return
        if not getattr(message, "error_code", 0):
            detail = f"{type(event.message).__name__} of {named}: {message}"
            self.monitor.report_violation(self, process, detail)
