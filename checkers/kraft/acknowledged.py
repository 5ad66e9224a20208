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
from kraftproof.checkers.kraft.metadata_transactions import effective
from kraftproof.checkers.kraft.node_logs import FINDINGS_A_CHECK, Tables
from kraftproof.checkers.kraft.registrations import Registrations
from kraftproof.checkers.kraft.topic_facts import created_id
from kraftproof.checkers.verdict import Finding, FindingKind, NotApplicableError

TOPICS_IN_LOG: Final = "kraft/acknowledged-topics-in-log"
REGISTRATIONS_IN_LOG: Final = "kraft/acknowledged-registrations-in-log"
_INTERNAL_PREFIX: Final = "__"


@dataclass(slots=True, kw_only=True)
class Fold:
    """The topics and brokers after the committed log.

    Attributes:
        topics: each topic id's name, removed ones included, in log order.
        removed: the ids removed, in log order.
        epochs: each broker id's registered epochs, in log order.
        registered: the epoch under which each broker id is registered at the end.
    """

    topics: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    epochs: dict[int, list[int]] = field(default_factory=dict)
    registered: dict[int, int] = field(default_factory=dict)


def fold(committed: pa.Table) -> Fold:
    """Folds the committed records of all nodes, each offset once."""
    by_offset: dict[int, tuple[str, str]] = {}
    for offset, kind, fields in rows_of(committed, "offset", "type", "json"):
        assert isinstance(offset, int)
        by_offset.setdefault(offset, (str(kind), str(fields)))
    folded = Fold()
    for kind, text in effective(by_offset[offset] for offset in sorted(by_offset)):
        _apply(folded, kind, text)
    return folded


def _apply(folded: Fold, kind: str, fields: str) -> None:
    if kind == "TOPIC_RECORD":
        record = _fields(fields)
        folded.topics[str(record["topicId"])] = str(record["name"])
    elif kind == "REMOVE_TOPIC_RECORD":
        folded.removed.append(str(_fields(fields)["topicId"]))
    elif kind == "REGISTER_BROKER_RECORD":
        record = _fields(fields)
        broker, epoch = int(record["brokerId"]), int(record["brokerEpoch"])
        folded.epochs.setdefault(broker, []).append(epoch)
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
            which = f"topic {operation.key} ({topic_id})"
            text = f"{which} was acknowledged and is not in the committed log"
            yield _finding(TOPICS_IN_LOG, text, operation)


def _lost_deletions(operations: Iterable[Operation], folded: Fold) -> Iterator[Finding]:
    removed = Counter(folded.topics.get(topic_id) for topic_id in folded.removed)
    removed_ids = frozenset(folded.removed)
    for operation in operations:
        if operation.f != "delete" or _outcome(operation) != "deleted":
            continue
        removed[operation.key] -= 1
        topic_id = operation.input.get("id") if isinstance(operation.input, dict) else None
        if removed[operation.key] < 0 or (topic_id is not None and topic_id not in removed_ids):
            text = f"the deletion of topic {operation.key} was acknowledged and is not in the log"
            yield _finding(TOPICS_IN_LOG, text, operation)


def _invented_topics(operations: Iterable[Operation], folded: Fold) -> Iterator[Finding]:
    told: set[str] = set()
    untold_creates: Counter[str] = Counter()
    deletes: Counter[str] = Counter()
    for operation in operations:
        topic_id = created_id(operation)
        if topic_id is not None:
            told.add(topic_id)
        elif operation.status == "info" and operation.f == "create":
            untold_creates[operation.key] += 1
        elif operation.f == "delete" and _outcome(operation) in {"deleted", "info"}:
            deletes[operation.key] += 1
    for topic_id, name in folded.topics.items():
        if name.startswith(_INTERNAL_PREFIX) or topic_id in told:
            continue
        untold_creates[name] -= 1
        if untold_creates[name] < 0:
            text = (
                f"topic {name} ({topic_id}) is in the committed log, but no create can have made it"
            )
            yield _finding(TOPICS_IN_LOG, text)
    for topic_id in folded.removed:
        name = folded.topics.get(topic_id, "")
        deletes[name] -= 1
        if deletes[name] < 0 and not name.startswith(_INTERNAL_PREFIX):
            text = (
                f"topic {name} ({topic_id}) is removed in the committed log, but no delete did it"
            )
            yield _finding(TOPICS_IN_LOG, text)


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
        finding
        for key, operations in by_key.items()
        if key.isdecimal()
        for finding in _broker_in_log(int(key), Registrations.of(key, operations), folded)
    ]


def _broker_in_log(broker: int, asked: Registrations, folded: Fold) -> Iterator[Finding]:
    logged = dict.fromkeys(folded.epochs.get(broker, []))
    for grant in asked.grants:
        if grant.epoch not in logged:
            text = f"acknowledged epoch {grant.epoch} is not in the committed log"
            yield asked.finding(REGISTRATIONS_IN_LOG, grant, text)
    told = {grant.epoch for grant in asked.grants}
    untold = sum(contact.may_register and not contact.is_grant for contact in asked.contacts)
    invented = [epoch for epoch in logged if epoch not in told]
    if len(invented) > untold:
        text = (
            f"broker {broker}: epoch {invented[-1]} is in the committed log, but was not asked for"
        )
        yield _finding(REGISTRATIONS_IN_LOG, text)
    final = folded.registered.get(broker)
    first = next((grant for grant in asked.grants if grant.epoch == final), None)
    for contact in asked.contacts:
        ended = contact.outcome == "unregistered" and first is not None and first.precedes(contact)
        if ended:
            text = (
                f"it was unregistered, but epoch {final} is still registered in the committed log"
            )
            yield asked.finding(REGISTRATIONS_IN_LOG, contact, text)


def _finding(check: str, sentence: str, operation: Operation | None = None) -> Finding:
    return Finding(
        check=check,
        kind=FindingKind.SAFETY,
        key=None if operation is None else operation.key,
        operation_index=None if operation is None else operation.index,
        sentence=sentence,
    )
