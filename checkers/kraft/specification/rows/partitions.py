"""Define requests and answers of brokers about partitions and producer ids as rows.

The names are those of Kafka's message schemas.
"""

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.rows import Row


class Member(Row, frozen=True, kw_only=True, gc=False):
    """A proposed member of an ISR; -1 is an unknown broker epoch (KIP-903)."""

    broker_id: int
    broker_epoch: int = -1


class Proposal(Row, frozen=True, kw_only=True, gc=False):
    """The ISR that a leader wants; version 2 has ids only, version 3 members."""

    partition_index: int
    leader_epoch: int
    partition_epoch: int
    leader_recovery_state: int = 0
    new_isr: tuple[int, ...] = ()
    new_isr_with_epochs: tuple[Member, ...] = ()

    @property
    def members(self) -> tuple[Member, ...]:
        """Return the wanted members of either version."""
        return (
            *(Member(broker_id=broker_id) for broker_id in self.new_isr),
            *self.new_isr_with_epochs,
        )


class ProposedTopic(Row, frozen=True, kw_only=True, gc=False):
    """The proposals for a topic."""

    topic_id: Id
    partitions: tuple[Proposal, ...]


class AlterPartitionRequest(Row, frozen=True, kw_only=True, gc=False):
    """ISRs that a broker proposes for the partitions that it leads."""

    broker_id: int
    broker_epoch: int
    topics: tuple[ProposedTopic, ...]


class AlteredPartition(Row, frozen=True, kw_only=True, gc=False):
    """The result of a proposal: an error, or the state of the partition."""

    partition_index: int
    error_code: int = 0
    leader_id: int = 0
    leader_epoch: int = 0
    isr: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    partition_epoch: int = 0


class AlteredTopic(Row, frozen=True, kw_only=True, gc=False):
    """The results of a topic."""

    topic_id: Id
    partitions: tuple[AlteredPartition, ...]


class AlterPartitionResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of AlterPartition."""

    error_code: int = 0
    topics: tuple[AlteredTopic, ...] = ()


class AllocateProducerIdsRequest(Row, frozen=True, kw_only=True, gc=False):
    """A broker asks for a block of producer ids."""

    broker_id: int
    broker_epoch: int


class AllocateProducerIdsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The first id and the length of a block."""

    error_code: int = 0
    producer_id_start: int = 0
    producer_id_len: int = 0


class ProducerIdsRecord(Row, frozen=True, kw_only=True, gc=False):
    """The first producer id that no broker has."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int
