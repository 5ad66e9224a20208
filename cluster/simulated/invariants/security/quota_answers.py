"""Invariant of DescribeClientQuotas: the quotas that a filter selects (KIP-546).

The rules are written apart from the node's filter, over a plain list of the records.
"""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Requests
from kraftproof.cluster.simulated.invariants.security.descriptions import Descriptions
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_client_quotas_request,
    describe_client_quotas_response,
)
from kraftproof.node.wire.records.metadata import ClientQuotaRecord

Request = describe_client_quotas_request.DescribeClientQuotasRequest
Response = describe_client_quotas_response.DescribeClientQuotasResponse
Component = describe_client_quotas_request.ComponentData
Quota = tuple[tuple[tuple[str, str | None], ...], str, str]
"""An entity, the key of its quota, and the value as text."""
NAMED, DEFAULT, EITHER = 0, 1, 2
OF_CLIENTS: Final = frozenset({"user", "client-id"})
KINDS: Final = OF_CLIENTS | {"ip"}
REFUSALS: Final = (ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_VERSION)


class QuotaDescriptionsAreTrue(Descriptions[Request, Response]):
    """The quotas in an answer are those of the image that the filter selects, each once."""

    statement = "DescribeClientQuotas answers with the quotas of the image that its filter selects."
    requests: ClassVar[Requests] = (Request,)
    response: ClassVar[type[Message]] = Response

    @override
    def fault(self, request: Request, response: Response, image: MetadataImage) -> str | None:
        """Return what is wrong with an answer; other refusals than that of a filter have judges."""
        is_legal = _is_legal(request.components)
        if response.error_code in REFUSALS:
            return f"error {response.error_code} for a legal filter" if is_legal else None
        if response.error_code != ErrorCode.NONE:
            return None
        if not is_legal:
            return f"an illegal filter is answered: {request.components}"
        said = sorted(
            (
                (
                    tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)),
                    each.key,
                    repr(each.value),
                )
                for entry in response.entries or ()
                for each in entry.values
            ),
            key=repr,
        )
        kept = [one for one in image.others.values() if isinstance(one, ClientQuotaRecord)]
        right = sorted((_shown(one) for one in kept if _is_selected(request, one)), key=repr)
        if said != right:
            return f"answers {len(said)} quotas {said[:3]}, but {len(right)} fit: {right[:3]}"
        return None


def _is_legal(components: tuple[Component, ...]) -> bool:
    kinds = [component.entity_type for component in components]
    return (
        len(set(kinds)) == len(kinds)
        and KINDS.issuperset(kinds)
        and not ("ip" in kinds and OF_CLIENTS.intersection(kinds))
        and all(
            each.match_type in (NAMED, DEFAULT, EITHER)
            and (each.match is not None) == (each.match_type == NAMED)
            for each in components
        )
    )


def _is_selected(request: Request, quota: ClientQuotaRecord) -> bool:
    names = {part.entity_type: part.entity_name for part in quota.entity}
    if request.strict and len(names) != len(request.components):
        return False
    for component in request.components:
        kind = component.entity_type
        if kind not in names:
            return False
        if component.match_type == NAMED and names[kind] != component.match:
            return False
        if component.match_type == DEFAULT and names[kind] is not None:
            return False
    return True


def _shown(quota: ClientQuotaRecord) -> Quota:
    names = tuple(sorted((part.entity_type, part.entity_name) for part in quota.entity))
    return (names, quota.key, repr(quota.value))
