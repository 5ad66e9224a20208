"""Judge AlterClientQuotas (Kafka 4.3.0, ClientQuotaControlManager; KIP-546).

An entity changes as a whole or not at all. Every refusal is INVALID_REQUEST.
"""

import ipaddress
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.image import Entity, Image
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ClientQuotaRecord,
    EntityPart,
    QuotaEntry,
    QuotaOperation,
)

MAX_RECORDS: Final = 10_000
_NEAR: Final = 1e-6
_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1
_WHOLE: Final = frozenset({"producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"})
_OF_CLIENTS: Final = frozenset(
    {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
)
_OF_ADDRESSES: Final = frozenset({"connection_creation_rate"})


def entity_of(parts: Iterable[EntityPart]) -> Entity:
    """Return an entity, which has its types in no order."""
    return frozenset((part.entity_type, part.entity_name) for part in parts)


def _is_legal(entry: QuotaEntry) -> bool:
    """Return whether an entity and its operations are legal."""
    names = {part.entity_type: part.entity_name for part in entry.entity}
    keys = [operation.key for operation in entry.ops]
    if len(names) != len(entry.entity) or len(set(keys)) != len(keys) or "" in names.values():
        return False
    if names.keys() == {"ip"}:
        allowed = _OF_ADDRESSES if _is_address(names["ip"]) else None
    else:
        allowed = _OF_CLIENTS if names and names.keys() <= {"user", "client-id"} else None
    if allowed is None:
        return False
    return all(
        operation.remove or (operation.key in allowed and _is_legal_value(operation))
        for operation in entry.ops
    )


def _is_address(name: str | None) -> bool:
    try:
        return name is None or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _is_legal_value(operation: QuotaOperation) -> bool:
    value = operation.value
    if math.isnan(value) or value <= 0:
        return False
    if operation.key not in _WHOLE:
        return True
    most = _INT_MAX if operation.key == "connection_creation_rate" else _LONG_MAX
    return value <= most and abs(math.floor(value + _NEAR) - value) <= _NEAR


def _after(image: Image, entry: QuotaEntry) -> dict[str, float]:
    """Return the quotas of an entity after its operations."""
    values = dict(image.quotas.get(entity_of(entry.entity), {}))
    for operation in entry.ops:
        values.pop(operation.key, None)
        if not operation.remove:
            values[operation.key] = operation.value
    return values


def wrong_quota_changes(
    image: Image, request: AlterClientQuotasRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of AlterClientQuotas, or None."""
    quotas = [record for record in written if isinstance(record, ClientQuotaRecord)]
    if len(quotas) != len(written):
        return f"{[type(record).__name__ for record in written]} were written"
    if request.validate_only:
        return "a request that only validates has changed quotas" if written else None
    after, wanted = fold(image, written), _wanted(image, request)
    changed = {entity_of(record.entity) for record in quotas}
    if changed - wanted.keys():
        return f"the quotas of {sorted(map(sorted, changed - wanted.keys()), key=repr)} changed"
    if not written and sum(len(entry.ops) for entry in request.entries) > MAX_RECORDS:
        return None
    for entity, right in wanted.items():
        now = dict(after.quotas.get(entity, {}))
        if now != right:
            return f"the quotas of {sorted(entity, key=repr)} became {now}, not {right}"
    return None


def _wanted(image: Image, request: AlterClientQuotasRequest) -> dict[Entity, dict[str, float]]:
    """Return the right quotas of each named entity after the request."""
    named = [entity_of(entry.entity) for entry in request.entries]
    wanted = {entity: dict(image.quotas.get(entity, {})) for entity in named}
    for entry, is_legal in zip(request.entries, _legal_entries(request), strict=True):
        if is_legal:
            wanted[entity_of(entry.entity)] = _after(image, entry)
    return wanted


def _legal_entries(request: AlterClientQuotasRequest) -> list[bool]:
    times = Counter(map(_parts_of, request.entries))
    return [times[_parts_of(entry)] == 1 and _is_legal(entry) for entry in request.entries]


def _parts_of(entry: QuotaEntry) -> frozenset[tuple[EntityPart, int]]:
    """Return the parts of an entity in no order; an entity with a part twice is another one."""
    return frozenset(Counter(entry.entity).items())


def wrong_quota_answer(
    _: Image, request: AlterClientQuotasRequest, answer: AlterClientQuotasResponse
) -> str | None:
    """Return why an answer to AlterClientQuotas is wrong, or None."""
    if [result.entity for result in answer.entries] != [entry.entity for entry in request.entries]:
        return "the results are not those of the entities of the request"
    is_large = sum(len(entry.ops) for entry in request.entries) > MAX_RECORDS
    codes = {result.error_code for result in answer.entries}
    if is_large and codes == {Code.POLICY_VIOLATION}:
        return None
    for result, is_legal in zip(answer.entries, _legal_entries(request), strict=True):
        right = Code.NONE if is_legal else Code.INVALID_REQUEST
        if result.error_code != right:
            return f"{result.entity}: {code_name(result.error_code)}, not {right.name}"
    return None
