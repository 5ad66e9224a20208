"""The invariant of leaders that stay as long as a majority is in contact (595-43).

See elections.py for leaders that stay too long.
"""

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import ROUNDING_NS, held_ns, moment
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Received, Stop
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import fetch_request, fetch_snapshot_request

RESIGNED = "resigned"


class NoNeedlessResignation(Invariant):
    """A leader in contact with a majority resigns only for its shutdown.

    A request for a slice of a snapshot is a contact, as a Fetch is.
    """

    statement = (
        "A leader resigns only if no majority has fetched, or copied the snapshot, for a fetch "
        "time-out, or if the leader shuts down."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = config.voters
        self._needed = config.majority - 1
        """Number of other voters in a majority."""
        self._fetch_ns = config.timeouts.fetch_ns
        self._contacts: dict[int, dict[int, tuple[int, int]]] = {}
        """The true times of the last two contacts with each other voter, by leader."""
        self._held_ns: dict[int, int] = {}
        """Time that a process was paused or waited for its disk, up to its last role."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._contacts.pop(process.node_id, None)
        self._held_ns.pop(process.node_id, None)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        contacts, message = self._contacts.get(process.node_id), event.message
        if contacts is None or process.status is None:
            return
        if isinstance(message, fetch_request.FetchRequest):
            replica_id = max(message.replica_state.replica_id, message.replica_id)
            epoch = _first_epoch(message.topics)
        else:
            assert isinstance(message, fetch_snapshot_request.FetchSnapshotRequest)
            replica_id = message.replica_id
            epoch = _first_epoch(message.topics)
        if replica_id in contacts and epoch == process.status.epoch:
            contacts[replica_id] = (contacts[replica_id][1], process.now_ns())

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        contacts = self._contacts.pop(process.node_id, None)
        now, held = moment(process), self._held_ns.get(process.node_id, 0)
        self._held_ns[process.node_id] = held_ns(now)
        if after.role == LEADER:
            others = [voter for voter in self._voters if voter != process.node_id]
            # The step that won may have waited for its disk since.
            began_ns = now.true_ns - (held_ns(now) - held)
            self._contacts[process.node_id] = dict.fromkeys(others, (began_ns, began_ns))
            return
        if contacts is None or before is None or not contacts:
            return
        is_resigned = after.role == RESIGNED and before.epoch == after.epoch
        if not is_resigned or isinstance(process.event, Stop):
            return
        # A step looks at the time before the request that it handles.
        now_ns = now.true_ns
        times = [last if last < now_ns else earlier for earlier, last in contacts.values()]
        silence_ns = now_ns - sorted(times, reverse=True)[self._needed - 1]
        if silence_ns < self._fetch_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS:
            detail = f"resigns {silence_ns / 1e6:.0f} ms after a majority was in contact"
            self.monitor.report_violation(self, process, detail)


def _first_epoch(
    topics: Sequence[fetch_request.FetchTopic] | Sequence[fetch_snapshot_request.TopicSnapshot],
) -> int:
    """Return the epoch of the first partition; -1 without partitions."""
    return topics[0].partitions[0].current_leader_epoch if topics and topics[0].partitions else -1
