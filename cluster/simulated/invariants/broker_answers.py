"""Invariants of a broker's answers from its own image, without the controller (KIP-631, 631-38).

Metadata, DescribeCluster and DescribeConfigs are compared with the published image of the broker.
See metadata.py for the images, answers.py and quorum_answers.py for the answers of controllers.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.brokers.config_answers import config_faults
from kraftproof.cluster.simulated.invariants.brokers.online import (
    is_active,
    offline_replicas,
    registered_listener,
    shown_leader,
)
from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_cluster_request,
    describe_cluster_response,
    describe_configs_request,
    describe_configs_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.types import ZERO_UUID, Uuid

MetadataRequest = metadata_request.MetadataRequest
MetadataResponse = metadata_response.MetadataResponse
ClusterRequest = describe_cluster_request.DescribeClusterRequest
ClusterResponse = describe_cluster_response.DescribeClusterResponse
ConfigsRequest = describe_configs_request.DescribeConfigsRequest
ConfigsResponse = describe_configs_response.DescribeConfigsResponse
IDS_SINCE = 12
"""First version of Metadata that asks for topics by id."""
LISTENERS_SINCE = 6
"""First version of Metadata that names a leader without the listener of the client."""
_Client = tuple[int, str | None]
"""Version of a client's Metadata, and the listener of the client; None for an unknown listener."""


class ResponsesMatchImage(Invariant):
    """Metadata answers of a broker equal its image."""

    statement = "A broker's answers about brokers, topics and configurations equal its image."
    requests: ClassVar[Requests] = (MetadataRequest, ClusterRequest, ConfigsRequest)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._cluster_id = config.cluster_id
        self._listener = config.client_listener
        self._static = dict(config.static_configs)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """Compare with the last published image; a step publishes its image after its answers."""
        if event.on_controller_listener:
            return
        image = process.image
        match event.message, message:
            case MetadataRequest() as request, MetadataResponse():
                self._judge_brokers(process, image, message, fenced_too=False)
                listener = self._listener_of(process)
                wants_all = request.topics is None or not (event.version or request.topics)
                asked = None if wants_all else _asked_once(request)
                if event.version < IDS_SINCE and any(map(_has_id, asked or ())):
                    faults = _refusal_faults(message)
                else:
                    faults = _topic_faults(image, asked, message, (event.version, listener))
            case ClusterRequest() as request, ClusterResponse(error_code=ErrorCode.NONE):
                fenced_too = request.include_fenced_brokers
                self._judge_brokers(process, image, message, fenced_too=fenced_too)
                return
            case ConfigsRequest() as request, ConfigsResponse():
                faults = config_faults(image, process.node_id, request, message, self._static)
            case _:
                return
        for fault in faults:
            self.monitor.report_violation(self, process, fault)

    def _listener_of(self, process: ProcessView) -> str | None:
        """Return the listener of the clients of a broker, if known."""
        return self._listener or registered_listener(process.image, process.node_id)

    def _judge_brokers(
        self,
        process: ProcessView,
        image: MetadataImage,
        message: MetadataResponse | ClusterResponse,
        *,
        fenced_too: bool,
    ) -> None:
        said = _said_brokers(message)
        held = _held_brokers(image, self._listener_of(process), fenced_too=fenced_too)
        if said != held:
            self.monitor.report_violation(
                self, process, f"answers brokers {said}, but the image has {held}"
            )
        active = [broker.node_id for broker in said if not broker.fenced]
        if message.controller_id not in (active or [NO_NODE]):
            contact = message.controller_id
            self.monitor.report_violation(
                self, process, f"answers controller {contact}, but the active brokers are {active}"
            )
        if message.cluster_id != self._cluster_id:
            self.monitor.report_violation(
                self, process, f"answers the wrong cluster id {message.cluster_id}"
            )


class ShownBroker(Struct, frozen=True, kw_only=True, order=True, gc=False):
    """A broker in an answer to a client."""

    node_id: int
    host: str
    port: int
    rack: str | None
    fenced: bool


def _said_brokers(message: MetadataResponse | ClusterResponse) -> list[ShownBroker]:
    if isinstance(message, MetadataResponse):
        said = [
            ShownBroker(
                node_id=one.node_id, host=one.host, port=one.port, rack=one.rack, fenced=False
            )
            for one in message.brokers
        ]
    else:
        said = [
            ShownBroker(
                node_id=one.broker_id,
                host=one.host,
                port=one.port,
                rack=one.rack,
                fenced=one.is_fenced,
            )
            for one in message.brokers
        ]
    return sorted(said, key=lambda broker: broker.node_id)


def _held_brokers(
    image: MetadataImage, listener: str | None, *, fenced_too: bool
) -> list[ShownBroker]:
    """Return the brokers by id, with their endpoints at a listener; None for all endpoints."""
    by_id = {int(broker_id): broker for broker_id, broker in image.brokers.items()}
    return [
        ShownBroker(
            node_id=broker_id,
            host=endpoint.host,
            port=endpoint.port,
            rack=by_id[broker_id].rack,
            fenced=by_id[broker_id].fenced,
        )
        for broker_id in sorted(by_id)
        if fenced_too or not by_id[broker_id].fenced
        for endpoint in by_id[broker_id].endpoints
        if listener is None or endpoint.name == listener
    ]


class ShownPartition(Struct, frozen=True, kw_only=True, gc=False):
    """A partition in an answer to a client."""

    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]
    error: int


def _topic_faults(
    image: MetadataImage,
    asked: tuple[metadata_request.MetadataRequestTopic, ...] | None,
    message: MetadataResponse,
    client: _Client,
) -> Iterator[str]:
    """Describe differences between the answered and requested topics; None means every topic."""
    if asked is None:
        wanted: Sequence[Uuid | None] = sorted(image.topics)
        said = sorted(message.topics, key=lambda topic: topic.topic_id)
    else:
        wanted = [_topic_id(image, topic) for topic in asked]
        said = list(message.topics)
    if len(said) != len(wanted):
        yield f"answers {len(said)} topics, but {len(wanted)} are requested"
        return
    for topic_id, topic in zip(wanted, said, strict=True):
        if topic_id is None:
            if topic.error_code == ErrorCode.NONE or topic.partitions:
                yield f"answers topic {topic.name or topic.topic_id.hex()}, absent from the image"
        else:
            yield from _differences(image, topic_id, topic, client)


def _asked_once(request: MetadataRequest) -> tuple[metadata_request.MetadataRequestTopic, ...]:
    """Return the requested topics, each once; with any id, those without an id do not count."""
    topics = request.topics or ()
    by_id = {each.topic_id: each for each in topics if each.topic_id != ZERO_UUID}
    return tuple(by_id.values() or dict.fromkeys(topics))


def _has_id(asked: metadata_request.MetadataRequestTopic) -> bool:
    return asked.name is None or asked.topic_id != ZERO_UUID


def _refusal_faults(message: MetadataResponse) -> Iterator[str]:
    """Describe topics that are answered by id in a version without ids."""
    for topic in message.topics:
        if topic.error_code != ErrorCode.INVALID_REQUEST or topic.partitions:
            yield f"answers topic {topic.name} with error {topic.error_code}, asked by id too early"


def _topic_id(image: MetadataImage, asked: metadata_request.MetadataRequestTopic) -> Uuid | None:
    """Return the id of a requested topic, or None if absent; an id takes precedence over a name."""
    if not _has_id(asked):
        return image.topic_ids.get(asked.name or "")
    return asked.topic_id if asked.topic_id in image.topics else None


def _differences(
    image: MetadataImage,
    topic_id: Uuid,
    topic: metadata_response.MetadataResponseTopic,
    client: _Client,
) -> Iterator[str]:
    held = image.topics[topic_id]
    said_name = (topic.name, topic.topic_id, topic.error_code)
    if said_name != (held.name, topic_id, ErrorCode.NONE):
        yield f"answers topic {said_name}, but the image has {held}"
    said = {one.partition_index: _said_partition(one) for one in topic.partitions}
    due = {
        index: _shown(image, partition, client)
        for index, partition in image.partitions[topic_id].items()
    }
    for index in sorted(said.keys() | due.keys()):
        if said.get(index) != due.get(index):
            yield f"topic {held.name}: {said.get(index)}, but the image has {due.get(index)}"


def _said_partition(said: metadata_response.MetadataResponsePartition) -> ShownPartition:
    return ShownPartition(
        index=said.partition_index,
        leader=said.leader_id,
        leader_epoch=said.leader_epoch,
        replicas=said.replica_nodes,
        isr=said.isr_nodes,
        offline=said.offline_replicas,
        error=said.error_code,
    )


def _shown(image: MetadataImage, held: Partition, client: _Client) -> ShownPartition:
    """Return a partition as a client is to see it: version 0 shows reachable replicas only."""
    version, listener = client
    leader = shown_leader(image, held, listener)
    replicas, isr, error = held.replicas, held.isr, ErrorCode.NONE
    if version == 0:
        replicas = tuple(node for node in replicas if is_active(image, node, listener))
        isr = tuple(node for node in isr if is_active(image, node, listener))
    if leader == NO_NODE:
        is_named = version >= LISTENERS_SINCE and held.leader in image.brokers
        error = ErrorCode.LISTENER_NOT_FOUND if is_named else ErrorCode.LEADER_NOT_AVAILABLE
    elif (replicas, isr) != (held.replicas, held.isr):
        error = ErrorCode.REPLICA_NOT_AVAILABLE
    return ShownPartition(
        index=held.index,
        leader=leader,
        leader_epoch=held.leader_epoch,
        replicas=replicas,
        isr=isr,
        offline=offline_replicas(image, held, listener),
        error=error,
    )
