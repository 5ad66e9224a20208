"""The grants of controlled shutdowns, from the heartbeats alone (KIP-631)."""

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import broker_heartbeat_request

Heartbeat = broker_heartbeat_request.BrokerHeartbeatRequest


class ShutdownGrants:
    """The metadata offset of each broker, and the end of the moves of each stopping broker."""

    def __init__(self) -> None:
        self._reached: dict[int, int] = {}
        self._moved: dict[tuple[int, int], int] = {}
        """The last offset of the batch that began a shutdown, by id and epoch of the broker."""

    @property
    def awaited(self) -> tuple[int, ...]:
        """Return the offsets for which shutdowns wait or have waited."""
        return tuple(self._moved.values())

    def expected(self, image: MetadataImage, beat: Heartbeat) -> bool | None:
        """Return whether a heartbeat is granted the shutdown; None if another rule decides.

        The broker waits until it leads nothing and all other active brokers have read the moves.
        """
        broker = image.brokers.get(NodeId(beat.broker_id))
        if broker is None or broker.epoch != beat.broker_epoch:
            return None
        self._reached[beat.broker_id] = beat.current_metadata_offset
        if beat.offline_log_dirs:
            return None
        if not (beat.want_shut_down or broker.in_controlled_shutdown):
            return False
        if broker.fenced or beat.want_fence:
            return True
        moved = self._moved.get((beat.broker_id, beat.broker_epoch))
        if not beat.want_shut_down or not broker.in_controlled_shutdown or moved is None:
            return False
        leads = any(
            partition.leader == broker.broker_id
            for partitions in image.partitions.values()
            for partition in partitions.values()
        )
        return not leads and all(
            self._reached.get(other.broker_id, -1) >= moved
            for other in image.brokers.values()
            if not other.fenced and not other.in_controlled_shutdown
        )

    def decided(self, beat: Heartbeat, after: MetadataImage, last_offset: int) -> None:
        """Note the begin of a shutdown, with the last offset of its batch."""
        broker = after.brokers.get(NodeId(beat.broker_id))
        if broker is None or broker.epoch != beat.broker_epoch:
            return
        if broker.in_controlled_shutdown:
            self._moved.setdefault((beat.broker_id, beat.broker_epoch), last_offset)
