"""Answer ListConfigResources from the broker's committed image (KIP-714, KIP-1142).

Version 0 lists the resources of client metrics only. Groups and client metrics exist by their
configurations. The broker collects no client metrics: GetTelemetrySubscriptions and PushTelemetry
are not served, so clients do not send any.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from kraftproof.node.core.configs.resources import Resource
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    list_config_resources_request,
    list_config_resources_response,
)

TYPES_FROM: Final = 1
"""The first version in which a client names the types of resources."""
Request = list_config_resources_request.ListConfigResourcesRequest
Response = list_config_resources_response.ListConfigResourcesResponse
Listed = list_config_resources_response.ConfigResource
_KNOWN: Final = frozenset(Resource)


def list_config_resources(image: MetadataImage, request: Request, version: int) -> Response:
    """Return the resources of the requested types; of all types if none is named."""
    wanted: Iterable[int] = sorted(set(request.resource_types) or _KNOWN)
    if version < TYPES_FROM:
        wanted = (Resource.CLIENT_METRICS,)
    if not _KNOWN.issuperset(wanted):
        return Response(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return Response(
        config_resources=tuple(
            Listed(resource_name=name, resource_type=kind)
            for kind in wanted
            for name in _names(image, Resource(kind))
        )
    )


def _names(image: MetadataImage, kind: Resource) -> Iterator[str]:
    """Yield the names of the resources of a type in order."""
    match kind:
        case Resource.TOPIC:
            yield from sorted(image.topic_ids)
        case Resource.BROKER | Resource.BROKER_LOGGER:
            yield from (
                str(broker.broker_id) for broker in image.sorted_brokers() if not broker.fenced
            )
        case Resource.CLIENT_METRICS | Resource.GROUP:
            yield from sorted(name for of_kind, name in image.configs if of_kind == kind)
