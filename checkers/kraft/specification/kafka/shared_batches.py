"""Split a batch of Kafka's controller into the results of its requests.

Kafka's controller collects records for controller.quorum.append.linger.ms before it appends a batch
(Kafka 4.3.0, BatchAccumulator). So a batch may hold the results of several requests, each of them
whole, in the order of the requests. A fencing and an unregistration have the changed partitions
first and the record of the broker last; every other result begins with its own record.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.brokers import METADATA_VERSION
from kraftproof.checkers.kraft.specification.rows import Row

Part = tuple[int, tuple[Row, ...]]
"""The place of the first record in the batch, and the records of one request."""

_OF_TOPICS: Final = (rows.ConfigRecord, rows.PartitionRecord)
"""Records that follow a TopicRecord of the same request."""
_OF_BROKERS: Final = (rows.RegisterBrokerRecord, rows.BrokerRegistrationChangeRecord)
"""Records of brokers, which changes of partitions may follow."""


def is_of_kafka(batches: Iterable[Sequence[Row]]) -> bool:
    """Return whether Kafka's controller may have written a batch, as the records tell.

    Only Kafka's controllers register themselves, begin a cluster in a metadata transaction, or
    append other records together with a NoOpRecord. Only Kafka's brokers support features besides
    metadata.version; where such a broker is, a controller of Kafka may be, too.
    """
    return any(_is_mark(record, batch) for batch in batches for record in batch)


def _is_mark(record: Row, batch: Sequence[Row]) -> bool:
    match record:
        case rows.RegisterControllerRecord() | rows.BeginTransactionRecord():
            return True
        case rows.NoOpRecord():
            return len(batch) > 1
        case rows.RegisterBrokerRecord():
            return any(one.name != METADATA_VERSION for one in record.features)
        case _:
            return False


def parts_of(written: Sequence[Row]) -> Iterator[Part]:
    """Yield the records of each request of a batch."""
    start = 0
    while start < len(written):
        end = _end(written, start)
        yield start, tuple(written[start:end])
        start = end


def _end(written: Sequence[Row], start: int) -> int:
    """Return the place after the records of the request whose records begin at `start`."""
    following = start + 1
    match written[start]:
        case rows.PartitionChangeRecord():
            end = _after(written, start, rows.PartitionChangeRecord)
            return end + 1 if _leaves(written, end) else end
        case rows.TopicRecord():
            return _after(written, following, *_OF_TOPICS)
        case rows.BeginTransactionRecord():
            ends = (isinstance(record, rows.EndTransactionRecord) for record in written)
            return next((at + 1 for at, is_end in enumerate(ends) if is_end), len(written))
        case rows.RegisterBrokerRecord() | rows.BrokerRegistrationChangeRecord():
            end = _after(written, following, rows.PartitionChangeRecord)
            # Of two brokers, one that returns before one that leaves: the changes are of both.
            return end + 1 if end > following and _leaves(written, end) else end
        case _:
            return following


def _after(written: Sequence[Row], start: int, *kinds: type[Row]) -> int:
    """Return the place of the first record that is of none of the kinds."""
    end = start
    while end < len(written) and isinstance(written[end], kinds):
        end += 1
    return end


def _leaves(written: Sequence[Row], place: int) -> bool:
    """Return whether a record fences or unregisters a broker."""
    if place >= len(written):
        return False
    record = written[place]
    return isinstance(record, rows.UnregisterBrokerRecord) or (
        isinstance(record, rows.BrokerRegistrationChangeRecord) and record.fenced > 0
    )


def with_cause_first(part: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the records of a part with the broker that leaves before the changed partitions."""
    is_last = len(part) > 1 and isinstance(part[0], rows.PartitionChangeRecord)
    return (part[-1], *part[:-1]) if is_last and _leaves(part, len(part) - 1) else part


def is_of_several_brokers(part: Sequence[Row]) -> bool:
    """Return whether the partitions of a part changed for more than one broker."""
    kinds = (*_OF_BROKERS, rows.UnregisterBrokerRecord)
    return sum(isinstance(record, kinds) for record in part) > 1
