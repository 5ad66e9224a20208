"""When each broker was last heard of, on the monotonic clock (KIP-631 "Broker Leases").

Only the active controller has it, in memory: a new one knows nothing and gives every broker a
full lease. Never the wall clock: a step of it would expire every lease at once, or none for
ever. Not: what follows from an expired lease (fencing.py).
"""

from collections.abc import Iterable

from kraftproof.node.core.base.types import Instant, Monotonic, NodeId


class Sessions:
    """The lease of each broker that has had contact; fenced ones too (631-44)."""

    __slots__ = ("_contacts", "_session_ns")

    def __init__(self, session_ns: int) -> None:
        self._session_ns = session_ns
        self._contacts: dict[NodeId, Monotonic] = {}

    def lease(self, broker_ids: Iterable[NodeId], now: Instant) -> None:
        """Give these brokers a full lease from now on."""
        for broker_id in broker_ids:
            self._contacts[broker_id] = _clock(now)

    def is_live(self, broker_id: NodeId, now: Instant) -> bool:
        """Whether the broker's lease still runs."""
        contact = self._contacts.get(broker_id)
        return contact is not None and _clock(now) < contact + self._session_ns

    def expire(self, now: Instant) -> list[NodeId]:
        """Take out the brokers whose lease has run out, by id."""
        expired = sorted(
            broker_id for broker_id in self._contacts if not self.is_live(broker_id, now)
        )
        for broker_id in expired:
            del self._contacts[broker_id]
        return expired

    def deadline(self) -> Monotonic | None:
        """When the next lease runs out."""
        if not self._contacts:
            return None
        return Monotonic(min(self._contacts.values()) + self._session_ns)


def _clock(now: Instant) -> Monotonic:
    return now.monotonic
