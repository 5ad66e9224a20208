"""Decide AlterClientQuotas: the quotas of users, client ids and addresses (KIP-546).

Each entity changes as a whole or not at all, independent of the other entities. A value that an
entity has already, and the removal of a quota that the entity lacks, write no record. The answer
repeats the entities of the request. Simplification: the name of an `ip` must be an address, since
the controller resolves no host names.
"""

import ipaddress
from collections import Counter
from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.controller.configs.alter import MAX_RECORDS
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.quotas import (
    CLIENT_ID,
    CONNECTION_RATE,
    CONSUMER_RATE,
    IP,
    MUTATION_RATE,
    PRODUCER_RATE,
    REQUEST_PERCENTAGE,
    USER,
    QuotaEntity,
    entity,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import alter_client_quotas_request, alter_client_quotas_response
from kraftproof.node.wire.records import metadata as records

Request = alter_client_quotas_request.AlterClientQuotasRequest
Entry = alter_client_quotas_request.EntryData
Operation = alter_client_quotas_request.OpData

TYPES: Final = (USER, CLIENT_ID, IP)
INT_MAX: Final = 0x7FFFFFFF
LONG_MAX: Final = 0x7FFFFFFFFFFFFFFF
_WHOLE_FROM: Final = 1e-6
"""The largest distance of a whole number from an integer, as in Kafka."""
_OF_CLIENTS: Final[Mapping[str, bool]] = {
    PRODUCER_RATE: True,
    CONSUMER_RATE: True,
    REQUEST_PERCENTAGE: False,
    MUTATION_RATE: False,
}
"""The keys of users and client ids, with whether the value is a whole number."""
_OF_ADDRESSES: Final[Mapping[str, bool]] = {CONNECTION_RATE: True}
_TOO_MANY: Final = f"more than {MAX_RECORDS} records, which are the most that a request may write"


class QuotaError(Exception):
    """An entity of the request is refused; the text is one line for the client."""


def alter_client_quotas(image: MetadataImage, request: Request) -> Outcome:
    """Set and remove quotas of entities."""
    times = Counter(_named(entry) for entry in request.entries)
    written: list[records.ClientQuotaRecord] = []
    results = []
    for entry in request.entries:
        error, reason = ErrorCode.NONE, None
        try:
            written += _changes(image, entry, times[_named(entry)])
        except QuotaError as refused:
            error, reason = ErrorCode.INVALID_REQUEST, str(refused)
        results.append(
            alter_client_quotas_response.EntryData(
                error_code=error,
                error_message=reason,
                entity=tuple(
                    alter_client_quotas_response.EntityData(
                        entity_type=part.entity_type, entity_name=part.entity_name
                    )
                    for part in entry.entity
                ),
            )
        )
    if len(written) > MAX_RECORDS:
        return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, _TOO_MANY))
    reply = alter_client_quotas_response.AlterClientQuotasResponse(entries=tuple(results))
    return Outcome(reply=reply, records=() if request.validate_only else tuple(written))


def _named(entry: Entry) -> QuotaEntity:
    return entity(*((part.entity_type, part.entity_name) for part in entry.entity))


def _changes(image: MetadataImage, entry: Entry, times: int) -> list[records.ClientQuotaRecord]:
    """Return the records of an entity that the request names a number of times.

    Raises:
        QuotaError: the entity or an operation is refused.
    """
    if times > 1:
        raise QuotaError("the entity is named twice")
    keys = _keys_of(entry)
    if len({operation.key for operation in entry.ops}) < len(entry.ops):
        raise QuotaError("a key is named twice")
    current = image.quotas.of(_named(entry))
    return [
        _record(entry, operation)
        for operation in entry.ops
        if _changes_value(operation, keys, current)
    ]


def _keys_of(entry: Entry) -> Mapping[str, bool]:
    """Return the quotas that the entity may have.

    Raises:
        QuotaError: the entity is illegal.
    """
    if not entry.entity:
        raise QuotaError("the entity is empty")
    types = [part.entity_type for part in entry.entity]
    for kind in types:
        if kind not in TYPES:
            raise QuotaError(f"{kind[:200]!r} is no type of an entity: {', '.join(TYPES)}")
    if len(set(types)) < len(types):
        raise QuotaError("the entity has a type twice")
    if any(part.entity_name == "" for part in entry.entity):
        raise QuotaError("the entity has an empty name; null names the default")
    if IP not in types:
        return _OF_CLIENTS
    if len(types) > 1:
        raise QuotaError("an ip is an entity alone, without user and client-id")
    _check_address(entry.entity[0].entity_name)
    return _OF_ADDRESSES


def _check_address(name: str | None) -> None:
    if name is None:
        return
    try:
        ipaddress.ip_address(name)
    except ValueError as error:
        raise QuotaError(f"{name[:200]!r} is no IP address") from error


def _changes_value(
    operation: Operation, keys: Mapping[str, bool], current: Mapping[str, float]
) -> bool:
    """Return whether an operation needs a record.

    Raises:
        QuotaError: the key or the value is illegal.
    """
    key, value = operation.key, operation.value
    if operation.remove:
        return key in current
    if key not in keys:
        raise QuotaError(f"{key[:200]!r} is no quota of this entity: {', '.join(keys)}")
    if not value > 0:
        raise QuotaError(f"{key} is {value}, not greater than 0")
    largest = INT_MAX if key == CONNECTION_RATE else LONG_MAX
    if keys[key] and value > largest:
        raise QuotaError(f"{key} is {value}, greater than {largest}")
    if keys[key] and abs(int(value + _WHOLE_FROM) - value) > _WHOLE_FROM:
        raise QuotaError(f"{key} is {value}, not a whole number")
    return current.get(key) != value


def _record(entry: Entry, operation: Operation) -> records.ClientQuotaRecord:
    return records.ClientQuotaRecord(
        entity=tuple(
            records.EntityData(entity_type=part.entity_type, entity_name=part.entity_name)
            for part in entry.entity
        ),
        key=operation.key,
        value=0.0 if operation.remove else operation.value,
        remove=operation.remove,
    )
