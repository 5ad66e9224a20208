"""Registrations of brokers by broker epoch, from committed records and from answers.

See invariants/leases.py and invariants/heartbeats.py for the invariants that use the registry.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The newest committed registration of a broker id."""

    epoch: int
    incarnation: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of one registration, by the committed records."""

    fenced: bool
    leaving: bool
    changes: int
    """Number of committed changes of the registration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationChange:
    """A committed registration, with the registration that it replaces."""

    broker_id: int
    time_ns: int
    epoch: int
    incarnation: bytes
    previous_epoch: int
    previous_incarnation: bytes | None
    was_unregistered: bool
    """Whether the previous registration had been unregistered before."""


class Registry:
    """Registrations in the order of commitment."""

    __slots__ = (
        "_alive_ns",
        "_current",
        "_floors",
        "_incarnations",
        "_let_go",
        "_standings",
        "changes",
    )

    def __init__(self, committed_log: CommittedLog) -> None:
        self._current: dict[int, Registration] = {}
        self._floors: dict[int, int] = {}
        self._incarnations: dict[tuple[int, int], bytes] = {}
        self._alive_ns: dict[tuple[int, int], int] = {}
        self._let_go: dict[tuple[int, int], bool] = {}
        self.changes: list[RegistrationChange] = []
        """The registrations committed since the last `take_changes`."""
        self._standings: dict[tuple[int, int], Standing] = {}
        committed_log.subscribers.append(self._committed)

    def floor(self, broker_id: int) -> int:
        """Return the lowest epoch of a broker that no committed record has superseded."""
        return self._floors.get(broker_id, 0)

    def incarnation(self, broker_id: int, epoch: int) -> bytes | None:
        """Return the incarnation that registered under a broker epoch, by the log, or None."""
        return self._incarnations.get((broker_id, epoch))

    def standing(self, broker_id: int, epoch: int) -> Standing | None:
        """Return the committed state of a registration; None if absent."""
        return self._standings.get((broker_id, epoch))

    def alive(self, broker_id: int, epoch: int, time_ns: int) -> None:
        """Record that a contact under a broker epoch, arrived at a time, was answered ok."""
        key = (broker_id, epoch)
        self._alive_ns[key] = max(time_ns, self._alive_ns.get(key, 0))

    def let_go(self, broker_id: int, epoch: int) -> None:
        """Record that a registration ends before its session: by shutdown or unregistration."""
        self._let_go[broker_id, epoch] = True

    def alive_ns(self, broker_id: int, epoch: int) -> int | None:
        """Return the arrival of the last contact; None without contact, or after `let_go`."""
        key = (broker_id, epoch)
        return None if key in self._let_go else self._alive_ns.get(key)

    def take_changes(self) -> Sequence[RegistrationChange]:
        """Return the registrations committed since the last call."""
        changes, self.changes = self.changes, []
        return changes

    def _committed(self, batch: Batch, time_ns: int) -> None:
        for record in batch.records:
            if type(record) is records.RegisterBrokerRecord:
                self._register(record, time_ns)
            elif type(record) is records.UnregisterBrokerRecord:
                self._floors[record.broker_id] = record.broker_epoch + 1
                self.let_go(record.broker_id, record.broker_epoch)
            elif type(record) is records.BrokerRegistrationChangeRecord:
                self._change(record)

    def _change(self, record: records.BrokerRegistrationChangeRecord) -> None:
        """Apply a change; a broker that is fenced and shutting down has released its epoch.

        The answer that grants the shutdown may be lost in a failover, so the record decides.
        """
        key = (record.broker_id, record.broker_epoch)
        known = self._standings.get(key)
        if known is None:
            return
        changed = Standing(
            fenced=record.fenced > 0 if record.fenced else known.fenced,
            leaving=known.leaving or record.in_controlled_shutdown > 0,
            changes=known.changes + 1,
        )
        self._standings[key] = changed
        if changed.fenced and changed.leaving:
            self.let_go(*key)

    def _register(self, record: records.RegisterBrokerRecord, time_ns: int) -> None:
        broker_id = record.broker_id
        previous = self._current.get(broker_id)
        amended = self._standings.get((broker_id, record.broker_epoch))
        self._standings[broker_id, record.broker_epoch] = Standing(
            fenced=record.fenced,
            leaving=record.in_controlled_shutdown,
            changes=0 if amended is None else amended.changes,
        )
        self.changes.append(
            RegistrationChange(
                broker_id=broker_id,
                time_ns=time_ns,
                epoch=record.broker_epoch,
                incarnation=record.incarnation_id,
                previous_epoch=-1 if previous is None else previous.epoch,
                previous_incarnation=None if previous is None else previous.incarnation,
                was_unregistered=previous is not None and self.floor(broker_id) > previous.epoch,
            )
        )
        self._current[broker_id] = Registration(
            epoch=record.broker_epoch, incarnation=record.incarnation_id
        )
        self._floors[broker_id] = max(record.broker_epoch, self._floors.get(broker_id, 0))
        self._incarnations[broker_id, record.broker_epoch] = record.incarnation_id
