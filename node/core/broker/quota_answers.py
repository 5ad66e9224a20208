"""Answer DescribeClientQuotas from the broker's committed image (KIP-546).

A component of the filter matches a type of an entity: 0 a name, 1 the default, 2 any name or the
default. A strict filter matches only entities without further types.
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.controller.quotas import TYPES
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.quotas import CLIENT_ID, IP, USER, QuotaEntity
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_client_quotas_request,
    describe_client_quotas_response,
)

Request = describe_client_quotas_request.DescribeClientQuotasRequest
Component = describe_client_quotas_request.ComponentData
Response = describe_client_quotas_response.DescribeClientQuotasResponse
EXACT, DEFAULT, ANY = range(3)
_OF_CLIENTS: Final = frozenset({USER, CLIENT_ID})


class FilterError(Exception):
    """The filter is illegal.

    Attributes:
        error: The code for the client.
        reason: One line for the client.
    """

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


class Filter(Struct, frozen=True, kw_only=True):
    """The types that an entity must have, with the wanted names."""

    exact: dict[str, str | None]
    """A name of None is the default."""
    any_name: frozenset[str]
    is_strict: bool

    def matches(self, entity: QuotaEntity) -> bool:
        """Return whether an entity is wanted."""
        names = dict(entity)
        if self.is_strict and len(names) != len(self.exact) + len(self.any_name):
            return False
        return self.any_name <= names.keys() and all(
            kind in names and names[kind] == name for kind, name in self.exact.items()
        )


def describe_client_quotas(image: MetadataImage, request: Request) -> Response:
    """Return the quotas of the matching entities, in order of the entities."""
    try:
        wanted = read_filter(request)
    except FilterError as refused:
        return Response(error_code=refused.error, error_message=refused.reason, entries=None)
    quotas = image.quotas.by_entity
    module = describe_client_quotas_response
    return Response(
        entries=tuple(
            module.EntryData(
                entity=tuple(
                    module.EntityData(entity_type=kind, entity_name=name) for kind, name in entity
                ),
                values=tuple(
                    module.ValueData(key=key, value=value)
                    for key, value in sorted(quotas[entity].items())
                ),
            )
            for entity in sorted(quotas, key=repr)
            if wanted.matches(entity)
        )
    )


def read_filter(request: Request) -> Filter:
    """Return the filter of a request.

    Raises:
        FilterError: a component is illegal, or components exclude each other.
    """
    exact: dict[str, str | None] = {}
    any_name: set[str] = set()
    for component in request.components:
        kind = component.entity_type
        if not kind:
            raise FilterError(ErrorCode.INVALID_REQUEST, "a component has no entity type")
        if kind in exact or kind in any_name:
            raise FilterError(ErrorCode.INVALID_REQUEST, f"{kind[:200]} is named twice")
        if kind not in TYPES:
            reason = f"{kind[:200]!r} is no type of an entity: {', '.join(TYPES)}"
            raise FilterError(ErrorCode.UNSUPPORTED_VERSION, reason)
        _check_match(component)
        if component.match_type == ANY:
            any_name.add(kind)
        else:
            exact[kind] = component.match
    named = {*exact, *any_name}
    if IP in named and named & _OF_CLIENTS:
        reason = "an ip is an entity alone, without user and client-id"
        raise FilterError(ErrorCode.INVALID_REQUEST, reason)
    return Filter(exact=exact, any_name=frozenset(any_name), is_strict=request.strict)


def _check_match(component: Component) -> None:
    kind, wants_name = component.match_type, component.match_type == EXACT
    if kind not in {EXACT, DEFAULT, ANY}:
        raise FilterError(ErrorCode.INVALID_REQUEST, f"match type {kind} is unknown")
    if wants_name != (component.match is not None):
        word = "needs a name" if wants_name else "has a name"
        raise FilterError(ErrorCode.INVALID_REQUEST, f"match type {kind} {word}")
