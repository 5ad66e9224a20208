"""Answer requests about rights, and the quorum's own requests, with an error for the whole request.

See node/core/controller/refusals.py for the other requests.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    create_acls_request,
    create_acls_response,
    delete_acls_request,
    delete_acls_response,
    describe_acls_request,
    describe_acls_response,
    describe_client_quotas_request,
    describe_client_quotas_response,
    describe_cluster_request,
    describe_cluster_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    list_config_resources_request,
    list_config_resources_response,
    vote_request,
    vote_response,
)


def _create_acls(
    request: create_acls_request.CreateAclsRequest, error: ErrorCode, reason: str | None
) -> Message:
    result = create_acls_response.AclCreationResult(error_code=error, error_message=reason)
    return create_acls_response.CreateAclsResponse(results=(result,) * len(request.creations))


def _delete_acls(
    request: delete_acls_request.DeleteAclsRequest, error: ErrorCode, reason: str | None
) -> Message:
    result = delete_acls_response.DeleteAclsFilterResult(error_code=error, error_message=reason)
    return delete_acls_response.DeleteAclsResponse(filter_results=(result,) * len(request.filters))


def _with_message(response: Callable[..., Message]) -> Callable[..., Message]:
    return lambda _, error, reason: response(error_code=error, error_message=reason)


def _with_code(response: Callable[..., Message]) -> Callable[..., Message]:
    return lambda _, error, __: response(error_code=error)


# Each function takes the request type of its key, which the type of a dict cannot express.
SECURITY_REFUSALS: Final[Mapping[type, Callable[[Any, ErrorCode, str | None], Message]]] = {
    begin_quorum_epoch_request.BeginQuorumEpochRequest: _with_code(
        begin_quorum_epoch_response.BeginQuorumEpochResponse
    ),
    create_acls_request.CreateAclsRequest: _create_acls,
    delete_acls_request.DeleteAclsRequest: _delete_acls,
    describe_acls_request.DescribeAclsRequest: _with_message(
        describe_acls_response.DescribeAclsResponse
    ),
    list_config_resources_request.ListConfigResourcesRequest: _with_code(
        list_config_resources_response.ListConfigResourcesResponse
    ),
    describe_client_quotas_request.DescribeClientQuotasRequest: _with_message(
        describe_client_quotas_response.DescribeClientQuotasResponse
    ),
    describe_cluster_request.DescribeClusterRequest: _with_message(
        describe_cluster_response.DescribeClusterResponse
    ),
    end_quorum_epoch_request.EndQuorumEpochRequest: _with_code(
        end_quorum_epoch_response.EndQuorumEpochResponse
    ),
    fetch_request.FetchRequest: _with_code(fetch_response.FetchResponse),
    fetch_snapshot_request.FetchSnapshotRequest: _with_code(
        fetch_snapshot_response.FetchSnapshotResponse
    ),
    vote_request.VoteRequest: _with_code(vote_response.VoteResponse),
}
