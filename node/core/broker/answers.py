"""Answer requests from the node's committed image or its configuration, without the quorum.

ApiVersions, Metadata (brokers only) and DescribeCluster (KIP-631 "Networking", "Membership States";
KIP-919 for controllers). The answers may lag behind the cluster but never go back. Linearizable
answers come from the active controller. See configs.py for DescribeConfigs.

Simplification: a broker is listed with the endpoint that has the name of this node's first client
listener, regardless of the client's listener.
"""

import re
from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NO_NODE, NodeId, Offset
from kraftproof.node.core.broker.operations import authorized, cluster_operations
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition, Topic
from kraftproof.node.core.metadata.names import INTERNAL_TOPICS, is_legal_name
from kraftproof.node.core.metadata.version import METADATA_VERSION, METADATA_VERSION_LEVEL
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    api_versions_request,
    api_versions_response,
    describe_cluster_request,
    describe_cluster_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.records.metadata import BrokerEndpoint
from kraftproof.node.wire.types import ZERO_UUID

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""The legal names and versions of client software."""
_SOFTWARE_NAMED_FROM: Final = 3
"""The first version of ApiVersions in which clients name their software."""
_TOPIC_IDS_FROM: Final = 12
"""The first version of Metadata whose answers may leave the name of a topic out."""
_BROKERS: Final = 1
_CONTROLLERS: Final = 2


def api_versions(
    image: MetadataImage,
    offset: Offset,
    request: api_versions_request.ApiVersionsRequest,
    version: int,
    *,
    on_controller_listener: bool,
) -> api_versions_response.ApiVersionsResponse:
    """Return the listener's API versions, and the finalized features as of `offset` (KIP-511)."""
    software = (request.client_software_name, request.client_software_version)
    if version >= _SOFTWARE_NAMED_FROM and not all(map(_SOFTWARE.fullmatch, software)):
        return api_versions_response.ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    served = served_versions(on_controller_listener=on_controller_listener)
    return api_versions_response.ApiVersionsResponse(
        api_keys=tuple(
            api_versions_response.ApiVersion(api_key=key, min_version=oldest, max_version=newest)
            for key, (oldest, newest) in served.items()
        ),
        supported_features=(
            api_versions_response.SupportedFeatureKey(
                name=METADATA_VERSION,
                min_version=METADATA_VERSION_LEVEL,
                max_version=METADATA_VERSION_LEVEL,
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


def metadata(
    config: NodeConfig,
    image: MetadataImage,
    request: metadata_request.MetadataRequest,
    version: int,
) -> metadata_response.MetadataResponse:
    """Return the active brokers and the requested topics (631-38)."""
    listed = [
        metadata_response.MetadataResponseBroker(
            node_id=broker.broker_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
        )
        for broker, endpoint in _listed(config, image, include_fenced=False)
    ]
    active = frozenset(broker.broker_id for broker in image.brokers.values() if not broker.fenced)
    wants_all = request.topics is None or (version == 0 and not request.topics)
    if wants_all:
        topics = tuple([_topic(image, topic, active) for topic in image.sorted_topics()])
    elif version < _TOPIC_IDS_FROM and any(map(_has_id, request.topics or ())):
        topics = tuple(map(_refused_topic, request.topics or ()))
    else:
        asked = dict.fromkeys(request.topics or ())
        topics = tuple([_asked_topic(image, topic, active) for topic in asked])
    if request.include_topic_authorized_operations:
        topics = tuple(map(authorized, topics))
    return metadata_response.MetadataResponse(
        brokers=tuple(listed),
        cluster_authorized_operations=cluster_operations(
            wanted=request.include_cluster_authorized_operations
        ),
        cluster_id=config.cluster_id,
        controller_id=_contact(config, [broker.node_id for broker in listed]),
        topics=topics,
    )


def describe_cluster(
    config: NodeConfig,
    image: MetadataImage,
    leader: NodeId,
    request: describe_cluster_request.DescribeClusterRequest,
    *,
    on_controller_listener: bool,
) -> describe_cluster_response.DescribeClusterResponse:
    """Return the brokers, as a broker, or the controllers, as a controller."""
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
        return _cluster(config, request, controllers, leader)
    brokers = tuple(
        describe_cluster_response.DescribeClusterBroker(
            broker_id=broker.broker_id,
            host=endpoint.host,
            port=endpoint.port,
            rack=broker.rack,
            is_fenced=broker.fenced,
        )
        for broker, endpoint in _listed(
            config, image, include_fenced=request.include_fenced_brokers
        )
    )
    active = [broker.broker_id for broker in brokers if not broker.is_fenced]
    return _cluster(config, request, brokers, _contact(config, active))


def _cluster(
    config: NodeConfig,
    request: describe_cluster_request.DescribeClusterRequest,
    nodes: tuple[describe_cluster_response.DescribeClusterBroker, ...],
    controller_id: NodeId,
) -> describe_cluster_response.DescribeClusterResponse:
    return describe_cluster_response.DescribeClusterResponse(
        endpoint_type=request.endpoint_type,
        cluster_id=config.cluster_id,
        cluster_authorized_operations=cluster_operations(
            wanted=request.include_cluster_authorized_operations
        ),
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


def _listed(
    config: NodeConfig, image: MetadataImage, *, include_fenced: bool
) -> list[tuple[BrokerRegistration, BrokerEndpoint]]:
    ours = next((entry.name for entry in config.endpoints if not entry.is_controller), "")
    return [
        (broker, endpoint)
        for broker in image.sorted_brokers()
        if include_fenced or not broker.fenced
        for endpoint in broker.endpoints
        if endpoint.name == ours
    ]


def _contact(config: NodeConfig, active: list[int]) -> NodeId:
    """Return the controller id for clients: any active broker, since brokers forward."""
    if config.node_id in active:
        return config.node_id
    return NodeId(active[0]) if active else NO_NODE


def _has_id(asked: metadata_request.MetadataRequestTopic) -> bool:
    return asked.name is None or asked.topic_id != ZERO_UUID


def _refused_topic(
    asked: metadata_request.MetadataRequestTopic,
) -> metadata_response.MetadataResponseTopic:
    """Refuse a topic of a request that names ids in a version whose answers need names."""
    return metadata_response.MetadataResponseTopic(
        error_code=ErrorCode.INVALID_REQUEST, name=asked.name or "", topic_id=asked.topic_id
    )


def _asked_topic(
    image: MetadataImage, asked: metadata_request.MetadataRequestTopic, active: frozenset[NodeId]
) -> metadata_response.MetadataResponseTopic:
    name = None if _has_id(asked) else asked.name
    topic = image.topics.get(asked.topic_id) if name is None else image.topic_named(name)
    if topic is not None:
        return _topic(image, topic, active)
    if name is None:
        error = ErrorCode.UNKNOWN_TOPIC_ID
    elif is_legal_name(name):
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    return metadata_response.MetadataResponseTopic(
        error_code=error, name=name, topic_id=asked.topic_id
    )


def _topic(
    image: MetadataImage, topic: Topic, active: frozenset[NodeId]
) -> metadata_response.MetadataResponseTopic:
    return metadata_response.MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=tuple(
            [_partition(partition, active) for partition in image.partitions_of(topic.topic_id)]
        ),
    )


def _partition(
    partition: Partition, active: frozenset[NodeId]
) -> metadata_response.MetadataResponsePartition:
    replicas = partition.replicas
    offline: tuple[NodeId, ...] = ()
    if not active.issuperset(replicas):
        offline = tuple(replica for replica in replicas if replica not in active)
    leaderless = partition.leader == NO_NODE
    return metadata_response.MetadataResponsePartition(
        error_code=ErrorCode.LEADER_NOT_AVAILABLE if leaderless else ErrorCode.NONE,
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=partition.isr,
        offline_replicas=offline,
    )
