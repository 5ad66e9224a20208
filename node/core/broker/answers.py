"""Answer requests from the node's committed image or its configuration, without the quorum.

ApiVersions and DescribeCluster (KIP-631 "Networking", "Membership States";
KIP-919 for controllers). The answers may lag behind the cluster but never go back. Linearizable
answers come from the active controller. See metadata.py for Metadata
and configs.py for DescribeConfigs.

A broker is listed with the endpoint that has the name of the client's listener.
"""

import re
from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NO_NODE, NodeId, Offset
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage
from kraftproof.node.core.metadata.version import LARGEST_LEVEL, LEAST_LEVEL, METADATA_VERSION
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    api_versions_request,
    api_versions_response,
    describe_cluster_request,
    describe_cluster_response,
)
from kraftproof.node.wire.records.metadata import BrokerEndpoint

SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""The legal names and versions of client software."""
SOFTWARE_NAMED_FROM: Final = 3
"""The first version of ApiVersions in which clients name their software."""
_BROKERS: Final = 1
_CONTROLLERS: Final = 2


def api_versions(
    image: MetadataImage,
    offset: Offset,
    request: api_versions_request.ApiVersionsRequest,
    version: int,
    served: Mapping[int, tuple[int, int]],
) -> api_versions_response.ApiVersionsResponse:
    """Return the served API versions, and the finalized features as of `offset` (KIP-511)."""
    software = (request.client_software_name, request.client_software_version)
    if version >= SOFTWARE_NAMED_FROM and not all(map(SOFTWARE.fullmatch, software)):
        return api_versions_response.ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    return api_versions_response.ApiVersionsResponse(
        api_keys=tuple(
            api_versions_response.ApiVersion(api_key=key, min_version=oldest, max_version=newest)
            for key, (oldest, newest) in served.items()
        ),
        supported_features=(
            api_versions_response.SupportedFeatureKey(
                name=METADATA_VERSION,
                min_version=LEAST_LEVEL,
                max_version=LARGEST_LEVEL,
            ),
        ),
        finalized_features_epoch=offset - 1,
        finalized_features=tuple(
            api_versions_response.FinalizedFeatureKey(
                name=name,
                max_version_level=image.features[name],
                min_version_level=image.features[name],
            )
            for name in sorted(image.features)
        ),
    )


def describe_cluster(
    config: NodeConfig,
    image: MetadataImage,
    leader: NodeId,
    request: describe_cluster_request.DescribeClusterRequest,
    *,
    on_controller_listener: bool,
    listener: str = "",
    operations: int,
) -> describe_cluster_response.DescribeClusterResponse:
    """Return the brokers, as a broker, or the controllers, as a controller.

    `operations` are the client's authorized operations on the cluster, as bits.
    """
    if request.endpoint_type not in {_BROKERS, _CONTROLLERS}:
        return _endpoint_refusal(request, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)
    if on_controller_listener != (request.endpoint_type == _CONTROLLERS):
        return _endpoint_refusal(request, ErrorCode.MISMATCHED_ENDPOINT_TYPE)
    if on_controller_listener:
        controllers = tuple(
            describe_cluster_response.DescribeClusterBroker(
                broker_id=voter.node_id, host=voter.host, port=voter.port
            )
            for voter in sorted(config.voters, key=lambda voter: voter.node_id)
        )
        return _cluster(config, request, controllers, leader, operations)
    brokers = tuple(
        describe_cluster_response.DescribeClusterBroker(
            broker_id=broker.broker_id,
            host=endpoint.host,
            port=endpoint.port,
            rack=broker.rack,
            is_fenced=broker.fenced,
        )
        for broker, endpoint in listed_brokers(
            config, image, listener, include_fenced=request.include_fenced_brokers
        )
    )
    active = [broker.broker_id for broker in brokers if not broker.is_fenced]
    return _cluster(config, request, brokers, contact(config, active), operations)


def _cluster(
    config: NodeConfig,
    request: describe_cluster_request.DescribeClusterRequest,
    nodes: tuple[describe_cluster_response.DescribeClusterBroker, ...],
    controller_id: NodeId,
    operations: int,
) -> describe_cluster_response.DescribeClusterResponse:
    return describe_cluster_response.DescribeClusterResponse(
        endpoint_type=request.endpoint_type,
        cluster_id=config.cluster_id,
        cluster_authorized_operations=operations,
        controller_id=controller_id,
        brokers=nodes,
    )


def _endpoint_refusal(
    request: describe_cluster_request.DescribeClusterRequest, error: ErrorCode
) -> describe_cluster_response.DescribeClusterResponse:
    return describe_cluster_response.DescribeClusterResponse(
        error_code=error,
        error_message=f"endpoint type {request.endpoint_type} is not answered here",
    )


def listed_brokers(
    config: NodeConfig, image: MetadataImage, listener: str, *, include_fenced: bool
) -> list[tuple[BrokerRegistration, BrokerEndpoint]]:
    """Return the brokers of an answer, each with the endpoint for clients of the listener."""
    ours = config.client_listener(listener)
    return [
        (broker, endpoint)
        for broker in image.sorted_brokers()
        if include_fenced or not broker.fenced
        for endpoint in broker.endpoints
        if endpoint.name == ours
    ]


def contact(config: NodeConfig, active: list[int]) -> NodeId:
    """Return the controller id for clients: any active broker, since brokers forward."""
    if config.node_id in active:
        return config.node_id
    return NodeId(active[0]) if active else NO_NODE
