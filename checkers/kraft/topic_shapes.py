"""Checks the answers about topics against the requests: partitions, replicas, configurations.

A create says how many partitions and replicas the topic has and which configurations were set. A
describe says which brokers hold each partition. A topic keeps its partitions and replicas for life,
so every describe of an id agrees with the create of the id and with every other describe. Histories
without these fields are not judged here.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.describe import described_id
from kraftproof.checkers.kraft.node_logs import FINDINGS_A_CHECK
from kraftproof.checkers.kraft.topic_facts import created_id
from kraftproof.checkers.text import as_json, shortened
from kraftproof.checkers.verdict import Finding, FindingKind

AS_ASKED: Final = "topics/as-asked"
DEFAULT_PARTITIONS: Final = 1
"""Number of partitions of a create that asks for no number."""
NO_LEADER: Final = -1

T = TypeVar("T", bound=Struct)


class Asked(Struct, frozen=True):
    """The input of a create."""

    partitions: int = DEFAULT_PARTITIONS
    configs: dict[str, str] = {}


class Created(Struct, frozen=True):
    """The answer of a create."""

    partitions: int
    factor: int
    configs: dict[str, str | None]


class Shown(Struct, frozen=True):
    """The answer of a describe: the partitions in the order of their indexes."""

    indexes: list[int]
    replicas: list[list[int]]
    isrs: list[list[int]]
    leaders: list[int]
    epochs: list[int]


def validate_shape(operation: Operation) -> None:
    """Refuse an answer that has a part of these fields, or other values.

    Raises:
        ValueError: the message names the operation's value.
    """
    kind = {"create": Created, "describe": Shown}.get(operation.f)
    output = operation.output
    if kind is None or not isinstance(output, dict):
        return
    if output.keys().isdisjoint(kind.__struct_fields__):
        return
    try:
        shape = msgspec.convert(output, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"field value: {error}: {as_json(output)}") from error
    if isinstance(shape, Shown):
        lengths = {len(getattr(shape, name)) for name in Shown.__struct_fields__}
        if len(lengths) > 1:
            raise ValueError(f"field value: lists of different lengths: {as_json(output)}")


def as_asked(operations: Sequence[Operation]) -> list[Finding]:
    """Find creates and describes whose answers differ from the requests or from each other."""
    return [
        *islice(_wrong_creates(operations), FINDINGS_A_CHECK),
        *islice(_wrong_describes(operations), FINDINGS_A_CHECK),
    ]


def _shape(operation: Operation, kind: type[T]) -> T | None:
    """Return the answer of an operation, or None without these fields."""
    if operation.status != "ok" or not isinstance(operation.output, dict):
        return None
    try:
        return msgspec.convert(operation.output, kind)
    except msgspec.ValidationError:
        return None


def _wrong_creates(operations: Iterable[Operation]) -> Iterator[Finding]:
    for operation in operations:
        created = _shape(operation, Created) if created_id(operation) is not None else None
        if created is None:
            continue
        asked = msgspec.convert(operation.input or {}, Asked)
        if created.partitions != asked.partitions:
            yield _finding(
                operation,
                f"has {created.partitions} partitions, but {asked.partitions} were asked for",
            )
        elif created.configs != asked.configs:
            yield _finding(
                operation,
                f"has the configurations {as_json(created.configs)}, "
                f"but {as_json(asked.configs)} were asked for",
            )


def _wrong_describes(operations: Iterable[Operation]) -> Iterator[Finding]:
    creates: dict[str, Created] = {}
    for operation in operations:
        topic_id = created_id(operation)
        created = None if topic_id is None else _shape(operation, Created)
        if topic_id is not None and created is not None:
            creates[topic_id] = created
    first: dict[str, Shown] = {}
    epochs: dict[tuple[str | None, int, str], list[int]] = {}
    for operation in operations:
        shown = _shape(operation, Shown) if operation.f == "describe" else None
        if shown is None:
            continue
        topic_id = described_id(operation)
        connection = (operation.node, operation.process, topic_id)
        wrong = (
            _wrong_partitions(shown)
            or _unlike_create(shown, creates.get(topic_id))
            or _unlike_before(shown, first.setdefault(topic_id, shown))
            or _went_back(shown, epochs.get(connection))
        )
        epochs[connection] = shown.epochs
        if wrong is not None:
            yield _finding(operation, wrong)


def _wrong_partitions(shown: Shown) -> str | None:
    """Check each partition by itself (631-20)."""
    if shown.indexes != list(range(len(shown.indexes))):
        return f"has the partitions {shown.indexes}"
    for index, replicas in enumerate(shown.replicas):
        isr, leader = shown.isrs[index], shown.leaders[index]
        if not replicas or len(set(replicas)) != len(replicas):
            return f"has the replicas {replicas} in partition {index}"
        if not isr or not set(isr) <= set(replicas) or len(set(isr)) != len(isr):
            return f"has the ISR {isr} of the replicas {replicas} in partition {index}"
        if leader not in {NO_LEADER, *isr}:
            return f"has the leader {leader} outside the ISR {isr} in partition {index}"
    return None


def _unlike_create(shown: Shown, created: Created | None) -> str | None:
    if created is None:
        return None
    if len(shown.replicas) != created.partitions:
        return f"has {len(shown.replicas)} partitions, but was created with {created.partitions}"
    factors = {len(replicas) for replicas in shown.replicas}
    if factors != {created.factor}:
        return f"has {sorted(factors)} replicas, but was created with {created.factor}"
    return None


def _unlike_before(shown: Shown, before: Shown) -> str | None:
    if shown.replicas == before.replicas:
        return None
    return f"has the replicas {shown.replicas}, but was shown with {before.replicas}"


def _went_back(shown: Shown, before: list[int] | None) -> str | None:
    """Compare with the last answer over the same connection, which no image may fall behind."""
    if before is None or all(now >= was for now, was in zip(shown.epochs, before, strict=False)):
        return None
    return f"has the leader epochs {shown.epochs}, but was shown with {before}"


def _finding(operation: Operation, why: str) -> Finding:
    fact = f"the answer of {operation.f} {shortened(operation.key)} is no right one"
    return Finding(
        check=AS_ASKED,
        kind=FindingKind.SAFETY,
        key=operation.key,
        operation_index=operation.index,
        fact=fact,
        sentence=f"topic {shortened(operation.key)} {why}",
        reason=why,
    )
