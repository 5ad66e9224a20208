"""Compare DescribeClientQuotas of a broker with a pass over plain entities (KIP-546).

A component of the filter asks for a type of an entity: for a name, for the default, or for any of
both. A strict filter takes only entities without further types.
"""

from collections import Counter
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.broker.quota_answers import describe_client_quotas
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_client_quotas_request,
    describe_client_quotas_response,
)
from kraftproof.node.wire.records import metadata as records

NAME, DEFAULT, ANY = 0, 1, 2
"""The numbers of the matches in a request."""
TYPES: Final = ("user", "client-id", "ip")
NAMES: Final = ("alice", "bob", "")
KEYS: Final = ("producer_byte_rate", "consumer_byte_rate", "request_percentage")
ENTITIES: Final = 12
FILTERS: Final = 12
Component = describe_client_quotas_request.ComponentData
Request = describe_client_quotas_request.DescribeClientQuotasRequest
Response = describe_client_quotas_response.DescribeClientQuotasResponse
Entity = tuple[tuple[str, str | None], ...]
Quotas = dict[Entity, dict[str, float]]


def compare_quota_answers(random: Random) -> None:
    """Compare the quotas that drawn filters show.

    Raises:
        DifferenceError: an answer has other entities, values or another error.
    """
    quotas, image = _drawn_quotas(random)
    for _ in range(FILTERS):
        components = tuple(_drawn_component(random) for _ in range(random.choice((0, 1, 1, 2, 2))))
        request = Request(components=components, strict=random.random() < 0.5)
        answer = describe_client_quotas(image, request)
        error = _error(components)
        same(f"the error of {request}", answer.error_code, int(error))
        if error != ErrorCode.NONE:
            same("the entries of a refused filter", answer.entries, None)
            check("a refused filter has a reason", answer.error_message)
            continue
        _compare_entries(request, answer, quotas)


def _compare_entries(request: Request, answer: Response, quotas: Quotas) -> None:
    found = [
        (
            tuple((part.entity_type, part.entity_name) for part in entry.entity),
            [(one.key, one.value) for one in entry.values],
        )
        for entry in answer.entries or ()
    ]
    same("a reason without an error", answer.error_message, None)
    expected = {
        entity: sorted(values.items())
        for entity, values in quotas.items()
        if _matches(request, dict(entity))
    }
    same(f"the entities of {request}", sorted(map(repr, dict(found))), sorted(map(repr, expected)))
    same(f"the number of entities of {request}", len(found), len(expected))
    for entity, values in found:
        same(f"the quotas of {entity}", values, expected[entity])


def _matches(request: Request, names: dict[str, str | None]) -> bool:
    """Return whether an entity is wanted."""
    asked = {one.entity_type for one in request.components}
    if not asked <= set(names) or (request.strict and asked != set(names)):
        return False
    for one in request.components:
        name = names[one.entity_type]
        if one.match_type == DEFAULT and name is not None:
            return False
        if one.match_type == NAME and (name is None or name != one.match):
            return False
    return True


def _error(components: tuple[Component, ...]) -> ErrorCode:
    """Return the error of the first component that is wrong, or of all components together."""
    asked: Counter[str] = Counter()
    for one in components:
        if not one.entity_type or asked[one.entity_type]:
            return ErrorCode.INVALID_REQUEST
        if one.entity_type not in TYPES:
            return ErrorCode.UNSUPPORTED_VERSION
        has_name = one.match is not None
        if one.match_type not in (NAME, DEFAULT, ANY) or has_name != (one.match_type == NAME):
            return ErrorCode.INVALID_REQUEST
        asked[one.entity_type] += 1
    is_mixed = asked["ip"] and len(asked) > 1 and asked.total() > 1
    return ErrorCode.INVALID_REQUEST if is_mixed else ErrorCode.NONE


def _drawn_component(random: Random) -> Component:
    match_type = random.choice((NAME, NAME, DEFAULT, ANY))
    match = random.choice(NAMES) if match_type == NAME else None
    if random.random() < 0.05:
        match = "alice" if match is None else None
    return Component(
        entity_type=random.choice((*TYPES[:2], *TYPES[:2], *TYPES[:2], *TYPES, "", "group")),
        match_type=random.choice((-1, 3)) if random.random() < 0.03 else match_type,
        match=match,
    )


def _drawn_quotas(random: Random) -> tuple[Quotas, MetadataImage]:
    """Return quotas, and the image after their records; some quotas are removed again."""
    quotas: Quotas = {}
    written = []
    for _ in range(ENTITIES):
        kinds = random.choice((("user",), ("client-id",), ("client-id", "user"), ("ip",)))
        entity = tuple((kind, random.choice((None, *NAMES))) for kind in kinds)
        key, value = random.choice(KEYS), float(random.randint(1, 5))
        is_removed = random.random() < 0.2
        kept = {} if is_removed else {key: value}
        others = {one: number for one, number in quotas.get(entity, {}).items() if one != key}
        quotas[entity] = {**others, **kept}
        parts = [records.EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        random.shuffle(parts)
        written.append(
            records.ClientQuotaRecord(entity=tuple(parts), key=key, value=value, remove=is_removed)
        )
    shown = {entity: values for entity, values in quotas.items() if values}
    return shown, apply_all(EMPTY_IMAGE, tuple(written))
