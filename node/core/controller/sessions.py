"""Track the leases of brokers on the monotonic clock (KIP-631 "Broker Leases").

Only the active controller has leases, in memory; a new active controller gives every broker a full
lease. A step of the wall clock could expire every lease at once, so leases use the monotonic clock.
See fencing.py for the effect of an expired lease.
"""

from collections.abc import Iterable
from typing import Final

from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage

NO_OFFSET: Final = -1


class Sessions:
    """The lease of each broker in contact, fenced brokers included (631-44)."""

    __slots__ = ("_awaited", "_contacts", "_reached", "_session_ns")

    def __init__(self, session_ns: int) -> None:
        self._session_ns = session_ns
        self._contacts: dict[NodeId, Monotonic] = {}
        self._reached: dict[NodeId, int] = {}
        """The metadata offset of each broker's last heartbeat."""
        self._awaited: dict[NodeId, tuple[Offset, int]] = {}
        """The epoch of each broker in controlled shutdown, and the offset for others to reach."""

    def reach(self, broker_id: NodeId, offset: int) -> None:
        """Note the metadata offset of a heartbeat."""
        self._reached[broker_id] = offset

    def await_moves(self, broker: BrokerRegistration, last_offset: int) -> None:
        """Note the last offset of the moves of a broker in controlled shutdown, once an epoch."""
        known = self._awaited.get(broker.broker_id)
        if known is None or known[0] != broker.epoch:
            self._awaited[broker.broker_id] = (broker.epoch, last_offset)

    def moves_are_seen(self, image: MetadataImage, broker: BrokerRegistration) -> bool:
        """Return whether all active brokers have read the moves of a broker (631-60).

        Otherwise clients could still be pointed at the broker that has gone.
        """
        epoch, offset = self._awaited.get(broker.broker_id, (broker.epoch, NO_OFFSET))
        if epoch != broker.epoch or offset == NO_OFFSET:
            return False
        return all(
            self._reached.get(other.broker_id, NO_OFFSET) >= offset
            for other in image.brokers.values()
            if other.may_lead
        )

    def lease(self, broker_ids: Iterable[NodeId], now: Instant) -> None:
        """Give the brokers a full lease from now on."""
        for broker_id in broker_ids:
            self._contacts[broker_id] = _clock(now)

    def is_live(self, broker_id: NodeId, now: Instant) -> bool:
        """Return whether the broker's lease has not expired."""
        contact = self._contacts.get(broker_id)
        return contact is not None and _clock(now) < contact + self._session_ns

    def expire(self, now: Instant) -> list[NodeId]:
        """Remove and return the brokers with an expired lease, in order of their ids."""
        expired = sorted(
            broker_id for broker_id in self._contacts if not self.is_live(broker_id, now)
        )
        for broker_id in expired:
            del self._contacts[broker_id]
            self._reached.pop(broker_id, None)
            self._awaited.pop(broker_id, None)
        return expired

    def deadline(self) -> Monotonic | None:
        """Return the expiry of the next lease."""
        if not self._contacts:
            return None
        return Monotonic(min(self._contacts.values()) + self._session_ns)


def _clock(now: Instant) -> Monotonic:
    return now.monotonic
