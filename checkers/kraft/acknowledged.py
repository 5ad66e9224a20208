"""Checks the answers of clients against the committed log (KIP-631, "Record schemas").

Every acknowledged creation, deletion and registration is in the log, and the log has no unrequested
or refused change. Names and ids of the log are those of operations in the
history: topics whose names begin with two underscores are the system's own, and so are broker ids
    that the history does not use. See the models for order. For logs that begin above offset 0 on
    every node, these checks are not applicable, since a snapshot replaced the missing records.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import msgspec
import pyarrow as pa

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of, rows_of
from kraftproof.checkers.kraft.metadata_transactions import Record, effective
from kraftproof.checkers.kraft.node_logs import (
    FINDINGS_A_CHECK,
    Tables,
    finding,
    operation_finding,
)
from kraftproof.checkers.kraft.registrations import Registrations
from kraftproof.checkers.kraft.topic_facts import created_id
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, NotApplicableError

TOPICS_IN_LOG: Final = "kraft/acknowledged-topics-in-log"
REGISTRATIONS_IN_LOG: Final = "kraft/acknowledged-registrations-in-log"
_INTERNAL_PREFIX: Final = "__"


@dataclass(slots=True, kw_only=True)
class Fold:
    """The topics and brokers after the committed log.

    Attributes:
        topics: each topic id's name, removed ones included, in log order.
        made_at: the offset of each topic id's record.
        removed: the ids removed and the offsets of their records, in log order.
        epochs: each broker id's registered epochs and the offsets of their records, in log order.
        registered: the epoch under which each broker id is registered at the end.
    """

    topics: dict[str, str] = field(default_factory=dict)
    made_at: dict[str, int] = field(default_factory=dict)
    removed: list[tuple[str, int]] = field(default_factory=list)
    epochs: dict[int, dict[int, int]] = field(default_factory=dict)
    registered: dict[int, int] = field(default_factory=dict)


def fold(committed: pa.Table) -> Fold:
    """Folds the committed records of all nodes, each offset once."""
    by_offset: dict[int, Record] = {}
    for offset, kind, fields in rows_of(committed, "offset", "type", "json"):
        assert isinstance(offset, int)
        by_offset.setdefault(offset, (offset, str(kind), str(fields)))
    folded = Fold()
    for record in effective(by_offset[offset] for offset in sorted(by_offset)):
        _apply(folded, *record)
    return folded


def _apply(folded: Fold, offset: int, kind: str, fields: str) -> None:
    if kind == "TOPIC_RECORD":
        record = _fields(fields)
        folded.topics[str(record["topicId"])] = str(record["name"])
        folded.made_at[str(record["topicId"])] = offset
    elif kind == "REMOVE_TOPIC_RECORD":
        folded.removed.append((str(_fields(fields)["topicId"]), offset))
    elif kind == "REGISTER_BROKER_RECORD":
        record = _fields(fields)
        broker, epoch = int(record["brokerId"]), int(record["brokerEpoch"])
        folded.epochs.setdefault(broker, {}).setdefault(epoch, offset)
        folded.registered[broker] = epoch
    elif kind == "UNREGISTER_BROKER_RECORD":
        folded.registered.pop(int(_fields(fields)["brokerId"]), None)


def _fields(text: str) -> dict[str, str | int]:
    """The fields of a record, bare or as the `data` of kraft-dump-log's payload."""
    value = msgspec.json.decode(text, type=dict[str, Any])
    return dict(value.get("data", value))


def require_whole(committed: pa.Table) -> None:
    """Raise NotApplicableError if the logs together lack what a snapshot replaced."""
    first: dict[object, int] = {}
    offsets: set[int] = set()
    for node, offset in rows_of(committed, "node", "offset"):
        assert isinstance(offset, int)
        first[node] = min(first.get(node, offset), offset)
        offsets.add(offset)
    if offsets and min(offsets) > 0:
        raise NotApplicableError(f"the logs begin at offset {min(offsets)}")
    for offset in range(max(first.values(), default=0)):
        if offset not in offsets:
            raise NotApplicableError(f"offset {offset} is in snapshots alone")


def topics_in_log(tables: Tables) -> list[Finding]:
    """Acknowledged creations and deletions are committed, and no others."""
    require_whole(tables["committed"])
    folded = fold(tables["committed"])
    operations = operations_of(tables["operations"])
    return [
        *islice(_lost_creations(operations, folded), FINDINGS_A_CHECK),
        *islice(_lost_deletions(operations, folded), FINDINGS_A_CHECK),
        *islice(_invented_topics(operations, folded), FINDINGS_A_CHECK),
    ]


def _lost_creations(operations: Iterable[Operation], folded: Fold) -> Iterator[Finding]:
    for operation in operations:
        topic_id = created_id(operation)
        if topic_id is not None and folded.topics.get(topic_id) != operation.key:
            fact = f"the creation of {_topic(operation.key, topic_id)} was acknowledged"
            why = "the topic is not in the committed log"
            yield operation_finding(TOPICS_IN_LOG, operation, fact, why)


def _lost_deletions(operations: Iterable[Operation], folded: Fold) -> Iterator[Finding]:
    removed = Counter(folded.topics.get(topic_id) for topic_id, _ in folded.removed)
    removed_ids = frozenset(topic_id for topic_id, _ in folded.removed)
    for operation in operations:
        if operation.f != "delete" or _outcome(operation) != "deleted":
            continue
        removed[operation.key] -= 1
        topic_id = operation.input.get("id") if isinstance(operation.input, dict) else None
        if removed[operation.key] < 0 or (topic_id is not None and topic_id not in removed_ids):
            fact = f"the deletion of topic {shortened(operation.key)} was acknowledged"
            why = "the deletion is not in the committed log"
            yield operation_finding(TOPICS_IN_LOG, operation, fact, why)


def _invented_topics(operations: Iterable[Operation], folded: Fold) -> Iterator[Finding]:
    """Find creations and deletions that no request can have asked for.

    A broker may repeat a request without an answer (KIP-590), and return the answer to the second
    try: `exists` or `absent`. Whether that answer was right by itself is for linearizability.
    """
    seen: set[str] = set()
    untold_creates: Counter[str] = Counter()
    deletes: Counter[str] = Counter()
    for operation in operations:
        topic_id = created_id(operation)
        if topic_id is not None:
            seen.add(topic_id)
        elif operation.f == "create" and _outcome(operation) in {"exists", "info"}:
            untold_creates[operation.key] += 1
        elif operation.f == "delete" and _outcome(operation) in {"deleted", "absent", "info"}:
            deletes[operation.key] += 1
    for topic_id, name in folded.topics.items():
        if name.startswith(_INTERNAL_PREFIX) or topic_id in seen:
            continue
        untold_creates[name] -= 1
        if untold_creates[name] < 0:
            fact = f"{_topic(name, topic_id)} was committed to the log"
            why = "no create can have made the topic"
            yield finding(TOPICS_IN_LOG, fact, reason=why, log_offset=folded.made_at[topic_id])
    for topic_id, offset in folded.removed:
        name = folded.topics.get(topic_id, "")
        deletes[name] -= 1
        if deletes[name] < 0 and not name.startswith(_INTERNAL_PREFIX):
            fact = f"the removal of {_topic(name, topic_id)} was committed to the log"
            why = "no delete can have removed the topic"
            yield finding(TOPICS_IN_LOG, fact, reason=why, log_offset=offset)


def _outcome(operation: Operation) -> str:
    """Return the outcome in the answer; info or fail without an answer."""
    if operation.status != "ok" or not isinstance(operation.output, dict):
        return operation.status
    return str(operation.output.get("outcome"))


def registrations_in_log(tables: Tables) -> list[Finding]:
    """Acknowledged registrations and unregistrations are committed, and no others."""
    require_whole(tables["committed"])
    folded = fold(tables["committed"])
    by_key: dict[str, list[Operation]] = {}
    for operation in operations_of(tables["operations"]):
        by_key.setdefault(operation.key, []).append(operation)
    return [
        found
        for key, operations in by_key.items()
        if key.isdecimal()
        for found in _broker_in_log(int(key), Registrations.of(key, operations), folded)
    ]


def _broker_in_log(broker: int, asked: Registrations, folded: Fold) -> Iterator[Finding]:
    logged = folded.epochs.get(broker, {})
    for grant in asked.grants:
        if grant.epoch not in logged:
            fact = f"the registration under epoch {grant.epoch} was acknowledged"
            why = "that epoch is not in the committed log"
            yield asked.finding(REGISTRATIONS_IN_LOG, grant, fact, reason=why)
    seen = {grant.epoch for grant in asked.grants}
    untold = sum(contact.may_register and not contact.is_grant for contact in asked.contacts)
    invented = [epoch for epoch in logged if epoch not in seen]
    if len(invented) > untold:
        epoch = invented[-1]
        fact = f"broker {broker}: a registration under epoch {epoch} was committed to the log"
        why = "no register can have caused the registration"
        yield finding(REGISTRATIONS_IN_LOG, fact, reason=why, log_offset=logged[epoch])
    final = folded.registered.get(broker)
    first = next((grant for grant in asked.grants if grant.epoch == final), None)
    for contact in asked.contacts:
        ended = contact.outcome == "unregistered" and first is not None and first.precedes(contact)
        if ended:
            fact = "its unregistration was acknowledged"
            why = f"epoch {final} is still registered at the end of the committed log"
            yield asked.finding(REGISTRATIONS_IN_LOG, contact, fact, reason=why)


def _topic(name: str, topic_id: str) -> str:
    return f"topic {shortened(name)} ({shortened(topic_id)})"
