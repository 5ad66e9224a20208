"""List the requests that a node serves: listener, versions, and whether a broker forwards them.

Clients ask brokers. A broker answers some requests itself and forwards requests that only the
active controller can decide (KIP-590). The controller listener serves the forwarded requests, the
requests of brokers and the quorum's own requests (631-03).
"""

from typing import Final

from kraftproof.node.core.controller.decisions import DECISIONS
from kraftproof.node.core.partition.requests import DATA_REQUESTS
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    begin_quorum_epoch_request,
    describe_acls_request,
    describe_client_quotas_request,
    describe_cluster_request,
    describe_configs_request,
    describe_delegation_token_request,
    describe_quorum_request,
    describe_topic_partitions_request,
    describe_user_scram_credentials_request,
    elect_leaders_request,
    end_quorum_epoch_request,
    envelope_request,
    fetch_request,
    fetch_snapshot_request,
    init_producer_id_request,
    list_config_resources_request,
    metadata_request,
    sasl_authenticate_request,
    sasl_handshake_request,
    vote_request,
)

FORWARDED: Final[tuple[type[Message], ...]] = (
    *(request for request, decision in DECISIONS.items() if decision.is_forwarded),
    describe_quorum_request.DescribeQuorumRequest,
)
"""The requests that a broker forwards, and the only legal content of an Envelope (590-10)."""
FORWARDABLE: Final = frozenset(request.API_KEY for request in FORWARDED)
"""The API keys of the forwarded requests."""
QUORUM: Final[tuple[type[Message], ...]] = (
    fetch_request.FetchRequest,
    fetch_snapshot_request.FetchSnapshotRequest,
    vote_request.VoteRequest,
    begin_quorum_epoch_request.BeginQuorumEpochRequest,
    end_quorum_epoch_request.EndQuorumEpochRequest,
    describe_quorum_request.DescribeQuorumRequest,
)
"""The requests that a controller serves even if it is not the active controller."""
LOGIN_REQUESTS: Final = (
    sasl_handshake_request.SaslHandshakeRequest,
    sasl_authenticate_request.SaslAuthenticateRequest,
)
"""The requests of a login; the sockets take them before its end, the node refuses them after."""
_BROKER: Final[tuple[type[Message], ...]] = (
    api_versions_request.ApiVersionsRequest,
    describe_acls_request.DescribeAclsRequest,
    describe_client_quotas_request.DescribeClientQuotasRequest,
    describe_topic_partitions_request.DescribeTopicPartitionsRequest,
    list_config_resources_request.ListConfigResourcesRequest,
    describe_cluster_request.DescribeClusterRequest,
    describe_configs_request.DescribeConfigsRequest,
    describe_delegation_token_request.DescribeDelegationTokenRequest,
    describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest,
    metadata_request.MetadataRequest,
    *LOGIN_REQUESTS,
    *DATA_REQUESTS,
    *FORWARDED,
)
_CONTROLLER: Final[tuple[type[Message], ...]] = (
    api_versions_request.ApiVersionsRequest,
    describe_acls_request.DescribeAclsRequest,
    describe_cluster_request.DescribeClusterRequest,
    envelope_request.EnvelopeRequest,
    *LOGIN_REQUESTS,
    *DECISIONS,
    *QUORUM,
)
_NARROWED_ON_CONTROLLERS: Final = {
    # Below version 12 a Fetch has no LastFetchedEpoch; Vote 2 is PreVote, which is not implemented.
    fetch_request.FetchRequest.API_KEY: (12, 18),
    vote_request.VoteRequest.API_KEY: (0, 1),
    # The answer of version 0 has no place for the error of a whole request.
    elect_leaders_request.ElectLeadersRequest.API_KEY: (1, 2),
}
_NARROWED_ON_BROKERS: Final = {
    # Version 6 belongs to transactions that span a crash of the client, and is unstable.
    init_producer_id_request.InitProducerIdRequest.API_KEY: (0, 5),
    elect_leaders_request.ElectLeadersRequest.API_KEY: (1, 2),
}


def served_versions(*, on_controller_listener: bool) -> dict[int, tuple[int, int]]:
    """Return the API keys of a listener with their oldest and newest version, by key."""
    requests = _CONTROLLER if on_controller_listener else _BROKER
    narrowed = _NARROWED_ON_CONTROLLERS if on_controller_listener else _NARROWED_ON_BROKERS
    versions = {
        request.API_KEY: narrowed.get(request.API_KEY, (request.MIN_VERSION, request.MAX_VERSION))
        for request in requests
    }
    return dict(sorted(versions.items()))
