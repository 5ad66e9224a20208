"""Tell requests about partitions from others: brokers receive and send them, and Fetch is both."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.partition.requests import DATA_REQUESTS
from kraftproof.node.wire.messages import (
    delete_records_request,
    fetch_request,
    list_offsets_request,
    produce_request,
)

_PARTS: Final[dict[type, tuple[str, tuple[str, ...], str, str]]] = {
    produce_request.ProduceRequest: ("topic_data", ("name", "topic_id"), "partition_data", "index"),
    fetch_request.FetchRequest: ("topics", ("topic", "topic_id"), "partitions", "partition"),
    delete_records_request.DeleteRecordsRequest: (
        *("topics", ("name",), "partitions", "partition_index"),
    ),
    list_offsets_request.ListOffsetsRequest: (
        *("topics", ("name",), "partitions", "partition_index"),
    ),
}
"""Requests whose answers name each partition once: the fields with the parts of the request."""


def is_data(event: Received) -> bool:
    """Return whether a received request is about partitions."""
    return not event.on_controller_listener and isinstance(event.message, DATA_REQUESTS)


def is_data_request(request: Send | Forward) -> bool:
    """Return whether a sent request is about partitions."""
    return type(request) is Send and request.is_to_broker


def with_each_partition_once(event: Received) -> Received:
    """Return a request as a broker judges the request: the last part for a partition counts.

    Kafka answers once about a partition that a Produce, a Fetch, a DeleteRecords or a ListOffsets
    names several times, and not about a topic without partitions.
    """
    if event.on_controller_listener or type(event.message) not in _PARTS:
        return event
    topics, names, partitions, index = _PARTS[type(event.message)]
    named = getattr(event.message, topics)
    if _is_plain(named, names, partitions, index):
        return event
    kept: dict[tuple[Any, ...], Any] = {}
    for topic in named:
        for part in getattr(topic, partitions):
            key = *(getattr(topic, name) for name in names), getattr(part, index)
            kept[key] = topic, part
    merged: list[Any] = []
    for key, (topic, part) in kept.items():
        if merged and tuple(getattr(merged[-1], name) for name in names) == key[:-1]:
            parts = (*getattr(merged[-1], partitions), part)
            merged[-1] = replace(topic, **{partitions: parts})
        else:
            merged.append(replace(topic, **{partitions: (part,)}))
    return replace(event, message=replace(event.message, **{topics: tuple(merged)}))


def _is_plain(topics: Sequence[Any], names: tuple[str, ...], partitions: str, index: str) -> bool:
    """Return whether each topic stands once, with partitions that stand once."""
    if len(topics) > 1 and len(set(map(attrgetter(*names), topics))) < len(topics):
        return False
    for topic in topics:
        parts = getattr(topic, partitions)
        if len(parts) != 1 and not 0 < len(parts) == len(set(map(attrgetter(index), parts))):
            return False
    return True
