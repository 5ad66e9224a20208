"""Track the leases of brokers on the monotonic clock (KIP-631 "Broker Leases").

Only the active controller has leases, in memory; a new active controller gives every broker a full
lease. A step of the wall clock could expire every lease at once, so leases use the monotonic clock.
See fencing.py for the effect of an expired lease.
"""

from collections.abc import Iterable

from kraftproof.node.core.base.types import Instant, Monotonic, NodeId


class Sessions:
    """The lease of each broker in contact, fenced brokers included (631-44)."""

    __slots__ = ("_contacts", "_session_ns")

    def __init__(self, session_ns: int) -> None:
        self._session_ns = session_ns
        self._contacts: dict[NodeId, Monotonic] = {}

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
        return expired

    def deadline(self) -> Monotonic | None:
        """Return the expiry of the next lease."""
        if not self._contacts:
            return None
        return Monotonic(min(self._contacts.values()) + self._session_ns)


def _clock(now: Instant) -> Monotonic:
    return now.monotonic
