"""Requests that would harm a cluster by right: a vote, an acknowledgement, a broker's farewell.

Nothing but a cluster id and a node's id tells a peer from a stranger. A random request that claims
to be a voter, or a broker of the cluster, may change the quorum or fence the broker, and the node
would be right to obey. Such requests get the id of another cluster, or of a broker that no node is.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.systems.reference.requests.topics import MOST_CREATED
from kraftproof.cluster.systems.reference.requests.vocabulary import (
    FOREIGN_BROKERS,
    FOREIGN_CLUSTER,
    NO_BROKERS,
    Vocabulary,
)
from kraftproof.node.wire.codec import decode_request
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.headers import split_request
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_partition_request,
    assign_replicas_to_dirs_request,
    begin_quorum_epoch_request,
    broker_heartbeat_request,
    broker_registration_request,
    create_topics_request,
    end_quorum_epoch_request,
    envelope_request,
    fetch_request,
    fetch_snapshot_request,
    unregister_broker_request,
    vote_request,
)
from kraftproof.node.wire.types import Uuid

LARGEST_NODE: Final = 7_000
"""Ids below this number may be those of nodes, or of brokers that a workload registers."""
LEVELS: Final = (1, 1 << 14)
"""Versions of metadata that a well-formed registration supports."""
OF_QUORUM: Final = (
    vote_request.VoteRequest,
    begin_quorum_epoch_request.BeginQuorumEpochRequest,
    end_quorum_epoch_request.EndQuorumEpochRequest,
    fetch_request.FetchRequest,
    fetch_snapshot_request.FetchSnapshotRequest,
)
OF_BROKERS: Final = (
    allocate_producer_ids_request.AllocateProducerIdsRequest,
    alter_partition_request.AlterPartitionRequest,
    assign_replicas_to_dirs_request.AssignReplicasToDirsRequest,
    broker_registration_request.BrokerRegistrationRequest,
    broker_heartbeat_request.BrokerHeartbeatRequest,
    unregister_broker_request.UnregisterBrokerRequest,
)


def is_harmless(message: Message, vocabulary: Vocabulary) -> bool:
    """Return whether a sound cluster stays as it is, apart from a few topics and brokers."""
    if isinstance(message, fetch_request.FetchRequest) and message.cluster_id is None:
        return not _is_node(message.replica_id) and not _is_node(message.replica_state.replica_id)
    if isinstance(message, OF_QUORUM):
        return bool(message.cluster_id) and message.cluster_id != vocabulary.cluster_id
    if isinstance(message, OF_BROKERS):
        return not _is_node(message.broker_id)
    if isinstance(message, create_topics_request.CreateTopicsRequest):
        asked = sum(max(one.num_partitions, len(one.assignments)) for one in message.topics)
        return message.validate_only or asked <= MOST_CREATED
    if isinstance(message, envelope_request.EnvelopeRequest):
        return is_harmless_payload(message.request_data, vocabulary)
    return True


def is_harmless_payload(payload: bytes, vocabulary: Vocabulary) -> bool:
    """Return whether the bytes are no request, or a harmless one."""
    message = read_payload(payload)
    return message is None or is_harmless(message, vocabulary)


def read_payload(payload: bytes) -> Message | None:
    """Return the request in the payload of a frame; None if the bytes are no request."""
    try:
        header, body = split_request(payload)
        return decode_request(header.api_key, header.version, body)
    except WireError:
        return None


def tame(message: Message, vocabulary: Vocabulary, random: Random) -> Message:
    """Return the request with such ids that the request is harmless."""
    if isinstance(message, broker_registration_request.BrokerRegistrationRequest):
        return _tame_registration(message, vocabulary, random)
    if isinstance(message, OF_BROKERS):
        return replace(message, broker_id=random.choice((*FOREIGN_BROKERS, *NO_BROKERS)))
    if isinstance(message, fetch_request.FetchRequest) and random.random() < 0.5:
        stranger = random.choice((-1, *FOREIGN_BROKERS))
        state = fetch_request.ReplicaState(replica_id=stranger)
        return replace(message, cluster_id=None, replica_id=stranger, replica_state=state)
    if isinstance(message, OF_QUORUM):
        return replace(message, cluster_id=FOREIGN_CLUSTER)
    return message


def _tame_registration(
    message: broker_registration_request.BrokerRegistrationRequest,
    vocabulary: Vocabulary,
    random: Random,
) -> Message:
    """Return a registration of a broker that no node is; half of them are well-formed."""
    broker_id = random.choice((*FOREIGN_BROKERS, *NO_BROKERS))
    message = replace(message, broker_id=broker_id)
    if random.random() < 0.5:
        return message
    oldest, newest = LEVELS
    level = broker_registration_request.Feature(
        name="metadata.version", min_supported_version=oldest, max_supported_version=newest
    )
    return replace(
        message,
        cluster_id=vocabulary.cluster_id,
        incarnation_id=Uuid(random.randbytes(16)),
        features=(level,),
        is_migrating_zk_broker=False,
        log_dirs=(Uuid(random.randbytes(16)),),
    )


def _is_node(node_id: int) -> bool:
    return 0 <= node_id < LARGEST_NODE
