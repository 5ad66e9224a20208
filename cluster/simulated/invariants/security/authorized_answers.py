"""The invariant that each request of a client without all rights is judged by the entries.

The rules are those of KIP-11 and KIP-290 over a plain list of the committed entries, written apart
from the node's authorizer and its index. A broker decides with the image that it has published. The
active controller decides with an image published between the arrival of the request and the answer.
The clients of this invariant send requests of one part (background/access_clients.py).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    broker_heartbeat_request,
    create_acls_request,
    create_partitions_request,
    create_topics_request,
    delete_acls_request,
    delete_topics_request,
    describe_acls_request,
    describe_quorum_request,
    envelope_response,
    incremental_alter_configs_request,
    list_partition_reassignments_request,
    metadata_request,
    unregister_broker_request,
)
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord

TOPIC, CLUSTER = 2, 4
CLUSTER_NAME: Final = "kafka-cluster"
ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = 2, 3, 4, 5, 6, 7, 8
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS = 9, 10, 11
DENY, ALLOW = 2, 3
PREFIXED: Final = 4
IMPLIED: Final[Mapping[int, frozenset[int]]] = {
    DESCRIBE: frozenset({READ, WRITE, DELETE, ALTER}),
    DESCRIBE_CONFIGS: frozenset({ALTER_CONFIGS}),
}
DENIALS: Final = frozenset(
    {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
)
UNDECIDED: Final = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})
"""Codes of answers without a decision."""

Right = tuple[int, int, str]
"""Operation, kind of resource, and name."""
Rights = Callable[[Any], tuple[Right, ...]]
"""Returns the rights of which one is enough for a request."""


def _on_cluster(operation: int) -> Rights:
    return lambda _: ((operation, CLUSTER, CLUSTER_NAME),)


OF_CONTROLLERS: Final[Mapping[type[Message], Rights]] = {
    allocate_producer_ids_request.AllocateProducerIdsRequest: _on_cluster(CLUSTER_ACTION),
    broker_heartbeat_request.BrokerHeartbeatRequest: _on_cluster(CLUSTER_ACTION),
    create_acls_request.CreateAclsRequest: _on_cluster(ALTER),
    delete_acls_request.DeleteAclsRequest: _on_cluster(ALTER),
    describe_quorum_request.DescribeQuorumRequest: _on_cluster(DESCRIBE),
    list_partition_reassignments_request.ListPartitionReassignmentsRequest: _on_cluster(DESCRIBE),
    unregister_broker_request.UnregisterBrokerRequest: _on_cluster(ALTER),
    create_topics_request.CreateTopicsRequest: lambda asked: (
        (CREATE, CLUSTER, CLUSTER_NAME),
        (CREATE, TOPIC, asked.topics[0].name),
    ),
    delete_topics_request.DeleteTopicsRequest: lambda asked: (
        (DELETE, CLUSTER, CLUSTER_NAME),
        (DELETE, TOPIC, asked.topics[0].name),
    ),
    create_partitions_request.CreatePartitionsRequest: lambda asked: (
        (ALTER, TOPIC, asked.topics[0].name),
    ),
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: lambda asked: (
        (ALTER_CONFIGS, TOPIC, asked.resources[0].resource_name),
    ),
}
"""The rights that the controller asks for."""
OF_BROKERS: Final[Mapping[type[Message], Rights]] = {
    describe_acls_request.DescribeAclsRequest: _on_cluster(DESCRIBE),
    metadata_request.MetadataRequest: lambda asked: ((DESCRIBE, TOPIC, asked.topics[0].name),),
}
"""The rights that a broker asks for."""


def allowed(
    image: MetadataImage, principal: str, host: str, right: Right, *, default: bool
) -> bool:
    """Return whether the entries of an image give a right to a principal at a host."""
    operation, kind, name = right
    about = [entry for entry in _entries(image) if _is_about(entry, kind, name)]
    if not about:
        return default
    own = [
        entry
        for entry in about
        if entry.principal in {principal, "User:*"} and entry.host in {host, "*"}
    ]
    if any(entry.permission_type == DENY and entry.operation in {ALL, operation} for entry in own):
        return False
    enough = {ALL, operation, *IMPLIED.get(operation, ())}
    return any(entry.permission_type == ALLOW and entry.operation in enough for entry in own)


def _entries(image: MetadataImage) -> Iterator[AccessControlEntryRecord]:
    for record in image.others.values():
        if isinstance(record, AccessControlEntryRecord):
            yield record


def _is_about(entry: AccessControlEntryRecord, kind: int, name: str) -> bool:
    if entry.resource_type != kind:
        return False
    if entry.pattern_type == PREFIXED:
        return name.startswith(entry.resource_name)
    return entry.resource_name in {name, "*"}


class OpenRequest(Struct):
    """A request of a client, and the images that may decide the request."""

    images: list[MetadataImage]


class AnswersFollowEntries(Invariant):
    """The clients get what the committed entries allow, and nothing else."""

    statement = (
        "A request of a client is done exactly if the committed access control entries allow the "
        "request, and an Envelope exactly if its sender may forward."
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._policy = config.authorizer
        self._open: dict[tuple[int, int], dict[int, OpenRequest]] = {}
        """By node and incarnation."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for key in [key for key in self._open if key[0] == process.node_id]:
            del self._open[key]

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        for request in self._open.get((process.node_id, process.incarnation), {}).values():
            request.images.append(image)

    @override
    def on_client_received(self, process: ProcessView, event: Received) -> None:
        requests = self._open.setdefault((process.node_id, process.incarnation), {})
        requests[event.request] = OpenRequest([process.image])

    @override
    def on_client_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        requests = self._open.get((process.node_id, process.incarnation), {})
        request = requests.pop(event.request, None)
        if request is None or self._policy is None:
            return
        codes = codes_of(message)
        if not codes:
            return  # a request without parts
        images = request.images
        name = type(event.message).__name__
        if event.forwarded_by is not None:
            is_refused = isinstance(message, envelope_response.EnvelopeResponse)
            if is_refused and codes & UNDECIDED:
                return
            right = (CLUSTER_ACTION, CLUSTER, CLUSTER_NAME)
            forwarder = f"{event.forwarded_by.type}:{event.forwarded_by.name}"
            may = self._verdicts(images[:1], forwarder, "", (right,))
            if is_refused in may:
                detail = f"an Envelope of {forwarder} with a {name}: {sorted(codes)}"
                self.monitor.report_violation(self, process, detail)
            if is_refused:
                return
        table = OF_CONTROLLERS if event.on_controller_listener else OF_BROKERS
        rights = table.get(type(event.message))
        if rights is None or codes & UNDECIDED:
            return
        decides_now = not event.on_controller_listener or _is_local(event.message)
        sender = f"{event.principal.type}:{event.principal.name}"
        verdicts = self._verdicts(
            images[:1] if decides_now else images,
            sender,
            event.client_host,
            rights(event.message),
        )
        is_denied = bool(codes & DENIALS)
        if (not is_denied) not in verdicts:
            wanted = "denied" if is_denied else "allowed"
            detail = f"{name} of {sender} is {wanted} in spite of the entries"
            self.monitor.report_violation(self, process, detail)

    def _verdicts(
        self, images: list[MetadataImage], sender: str, host: str, rights: tuple[Right, ...]
    ) -> set[bool]:
        """Return the possible verdicts, by the images that may decide."""
        policy = self._policy
        assert policy is not None, "clients with rights come with an authorizer"
        if sender in policy.super_users:
            return {True}
        return {
            any(
                allowed(image, sender, host, right, default=policy.allows_without_acl)
                for right in rights
            )
            for image in images
        }


def _is_local(message: Message) -> bool:
    """Return whether a controller answers a request from its own image, without the quorum."""
    return isinstance(message, describe_quorum_request.DescribeQuorumRequest)


def codes_of(answer: object) -> frozenset[int]:
    """Return the error codes in an answer, at any depth."""
    if isinstance(answer, tuple):
        return frozenset().union(*map(codes_of, answer))
    if not isinstance(answer, Struct):
        return frozenset()
    found: set[int] = set()
    for name in answer.__struct_fields__:
        value = getattr(answer, name)
        if name == "error_code":
            found.add(value)
        elif isinstance(value, tuple | Struct):
            found |= codes_of(value)
    return frozenset(found)
