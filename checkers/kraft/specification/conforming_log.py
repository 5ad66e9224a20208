"""Checks the committed log of a run against the specification of the controller.

The log has the results, the history has the requests of the clients. A batch without a request in
the history, such as a heartbeat of a broker or a topic of the system, is judged against the request
that would explain the batch best: then its partitions, leaders and epochs are still checked, and
only the wish behind the batch is taken from the records. A batch of Kafka's controller may hold the
results of several requests (kafka/shared_batches.py), each of which is judged after the one before.
Logs with unknown records, and logs that begin in a snapshot, are not judged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec
import pyarrow as pa

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of, rows_of
from kraftproof.checkers.kraft.acknowledged import require_whole
from kraftproof.checkers.kraft.node_logs import Tables, finding, limited
from kraftproof.checkers.kraft.specification import LOG_CONFORMS, rows
from kraftproof.checkers.kraft.specification.conversion import row_of_fields
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.image import ContradictionError, Image
from kraftproof.checkers.kraft.specification.kafka.own_records import is_kafkas_own, wrong_of_kafka
from kraftproof.checkers.kraft.specification.kafka.shared_batches import (
    is_of_kafka,
    is_of_several_brokers,
    parts_of,
    with_cause_first,
)
from kraftproof.checkers.kraft.specification.likely_brokers import (
    UNKNOWN_CLUSTER,
    broker_request,
    with_failed_directories,
)
from kraftproof.checkers.kraft.specification.partitions.likely import likely_requests
from kraftproof.checkers.kraft.specification.security.scram import sets_credentials
from kraftproof.checkers.kraft.specification.specification import Specification
from kraftproof.checkers.kraft.topic_facts import created_id
from kraftproof.checkers.verdict import Finding, NotApplicableError

LEVEL: Final = 21
"""The first level of metadata.version that the specification describes, 3.9-IV0."""
_METADATA_VERSION: Final = "metadata.version"
_RECORD: Final = "_RECORD"
"""The end of the type of a metadata record; other types are control records."""
_ELIGIBLE_LEADERS: Final = "eligible.leader.replicas.version"

Batch = tuple[int, tuple[rows.Row, ...]]
"""The offset of a batch and its metadata records."""


def log_conforms(tables: Tables) -> list[Finding]:
    """Find batches that the specification does not allow after the batches before them."""
    require_whole(tables["committed"])
    creates = {
        topic_id: operation
        for operation in operations_of(tables["operations"])
        if (topic_id := created_id(operation)) is not None
    }
    batches = list(_batches(tables["committed"]))
    if not any(
        isinstance(row, rows.RegisterBrokerRecord) for _, written in batches for row in written
    ):
        raise NotApplicableError("the log registers no broker, so the log is a part only")
    _require_level(batches)
    of_kafka = is_of_kafka(written for _, written in batches)
    if of_kafka:
        _refuse_unknown_features(batches)
    return limited(_wrong_batches(batches, creates, of_kafka=of_kafka))


def _refuse_unknown_features(batches: Iterable[Batch]) -> None:
    """Refuse a log whose partitions have eligible leader replicas (KIP-966).

    Raises:
        NotApplicableError: the feature is on, which changes the rules of ISRs.
    """
    for _, written in batches:
        for record in written:
            if isinstance(record, rows.FeatureLevelRecord) and record.name == _ELIGIBLE_LEADERS:
                raise NotApplicableError(
                    f"the log has the feature {record.name}, which the specification does not judge"
                )


def _require_level(batches: Iterable[Batch]) -> None:
    """Refuse the log of an older metadata.version, in which other records are right.

    Raises:
        NotApplicableError: the level is below that of the specification.
    """
    for _, written in batches:
        for row in written:
            if isinstance(row, rows.FeatureLevelRecord) and row.name == _METADATA_VERSION:
                if row.feature_level < LEVEL:
                    level = f"{_METADATA_VERSION} has the level {row.feature_level}"
                    raise NotApplicableError(f"{level}, the specification begins with {LEVEL}")
                return


def _batches(committed: pa.Table) -> Iterator[Batch]:
    """Yield the batches of the log, each offset once.

    Raises:
        NotApplicableError: a record is of a type that the specification does not know.
    """
    by_offset: dict[int, tuple[tuple[object, ...], str, str]] = {}
    columns = ("offset", "epoch", "batch_crc", "batch_offset", "type", "json")
    for offset, *batch_id, kind, text in rows_of(committed, *columns):
        assert isinstance(offset, int)
        by_offset.setdefault(offset, (tuple(batch_id), str(kind), str(text)))
    ordered = [(offset, *by_offset[offset]) for offset in sorted(by_offset)]
    for _, batch in groupby(ordered, key=lambda entry: entry[1]):
        entries = list(batch)
        written = [_row(kind, text) for _, _, kind, text in entries if kind.endswith(_RECORD)]
        if any(not isinstance(row, rows.NoOpRecord) for row in written):
            yield entries[0][0], tuple(written)


def _row(kind: str, text: str) -> rows.Row:
    value = msgspec.json.decode(text, type=dict[str, Any])
    try:
        row = row_of_fields(kind, value.get("data", value))
    except msgspec.ValidationError as error:
        raise NotApplicableError(f"the log has a {kind} without all fields: {error}") from error
    if isinstance(row, rows.OtherRecord):
        raise NotApplicableError(f"the log has a {kind}, which the specification does not judge")
    return row


def _wrong_batches(
    batches: Iterable[Batch], creates: Mapping[str, Operation], *, of_kafka: bool
) -> Iterator[Finding]:
    """Yield the findings of each batch; a log that may be Kafka's may have results together."""
    specification = Specification(Facts(cluster_id=UNKNOWN_CLUSTER, has_authorizer=True))
    image = specification.empty
    for batch in batches:
        try:
            after = specification.after(image, batch[1])
            wrong = _wrong_batch(specification, image, batch, creates)
            if wrong is not None and of_kafka:
                yield from _wrong_parts(specification, image, batch, creates)
            elif wrong is not None:
                yield _finding(batch[0], wrong)
        except ContradictionError as contradiction:
            yield _finding(batch[0], str(contradiction))
            return
        image = after


def _wrong_parts(
    specification: Specification, image: Image, batch: Batch, creates: Mapping[str, Operation]
) -> Iterator[Finding]:
    """Yield the findings of a batch of Kafka's controller, each request as a batch of its own."""
    offset, written = batch
    for place, found in parts_of(written):
        part = with_cause_first(found)
        wrong = None
        if is_kafkas_own(part):
            wrong = wrong_of_kafka(image, part)
        elif not is_of_several_brokers(part):
            wrong = _wrong_batch(specification, image, (offset + place, part), creates)
        if wrong is not None:
            yield _finding(offset + place, wrong)
        image = specification.after(image, part)


def _wrong_batch(
    specification: Specification, image: Image, batch: Batch, creates: Mapping[str, Operation]
) -> str | None:
    """Return the complaint about the most likely request, or None if one explains the batch."""
    offset, written = batch
    if sets_credentials(written):
        return None  # the keys do not tell the password of the request
    request = likely_request(written, creates)
    if isinstance(request, rows.BrokerHeartbeatRequest):
        request = with_failed_directories(image, request, written)
    likely: list[rows.Row | None] = [request]
    if request is None:
        likely = [*likely_requests(image, written)] or [None]
    first: str | None = None
    for candidate in likely:
        wrong = specification.wrong_records(image, offset, candidate, written)
        if wrong is None:
            return None
        first = first or wrong
    return first


def _finding(offset: int, wrong: str) -> Finding:
    fact = f"the batch at offset {offset} of the committed log is no right result of a request"
    return finding(LOG_CONFORMS, fact, reason=wrong)


def likely_request(
    written: Sequence[rows.Row], creates: Mapping[str, Operation]
) -> rows.Row | None:
    """Return the request of a batch, by the history or by the records; None for own records."""
    topics = [record for record in written if isinstance(record, rows.TopicRecord)]
    if topics:
        return rows.CreateTopicsRequest(
            topics=tuple(_topic(record, written, creates.get(record.topic_id)) for record in topics)
        )
    removed = [record for record in written if isinstance(record, rows.RemoveTopicRecord)]
    if removed:
        states = (rows.TopicState(topic_id=record.topic_id) for record in removed)
        return rows.DeleteTopicsRequest(topics=tuple(states))
    return broker_request(written)


def _topic(
    record: rows.TopicRecord, written: Sequence[rows.Row], create: Operation | None
) -> rows.CreatableTopic:
    """Return a topic as a client asked for it; without a client, as it was made."""
    partitions = _partitions_of(record.topic_id, written)
    if create is not None:
        asked: Mapping[str, Any] = create.input if isinstance(create.input, dict) else {}
        answer: Mapping[str, Any] = create.output if isinstance(create.output, dict) else {}
        factor = len(partitions[0].replicas) if partitions else 1
        return rows.CreatableTopic(
            name=create.key,
            num_partitions=asked.get("partitions", 1),
            replication_factor=answer.get("factor", factor),
            configs=tuple(
                rows.Setting(name=name, value=value)
                for name, value in asked.get("configs", {}).items()
            ),
        )
    return rows.CreatableTopic(
        name=record.name,
        assignments=tuple(
            rows.Assignment(partition_index=one.partition_id, broker_ids=one.replicas)
            for one in partitions
        ),
        configs=tuple(
            rows.Setting(name=one.name, value=one.value)
            for one in written
            if isinstance(one, rows.ConfigRecord) and one.resource_name == record.name
        ),
    )


def _partitions_of(topic_id: Id, written: Sequence[rows.Row]) -> list[rows.PartitionRecord]:
    return [
        record
        for record in written
        if isinstance(record, rows.PartitionRecord) and record.topic_id == topic_id
    ]
