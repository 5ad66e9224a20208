"""Answer requests for coordinators: this broker has neither groups nor transactions.

A client gets a clear answer at once, and no silence. Real Kafka brokers on the same controllers
serve groups and transactions.
"""

from typing import Final

from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation, ResourceKind
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import find_coordinator_request, find_coordinator_response

_LISTS_FROM: Final = 4
"""The first version of FindCoordinator with a list of keys."""
_MESSAGE: Final = "this broker has no group and no transaction coordinator"
_GROUP, _TRANSACTION, _SHARE = range(3)
"""The kinds of coordinators: of groups, of transactions and of share groups."""
_RIGHTS: Final = {
    _GROUP: (ResourceKind.GROUP, Operation.DESCRIBE),
    _TRANSACTION: (ResourceKind.TRANSACTIONAL_ID, Operation.DESCRIBE),
    _SHARE: (ResourceKind.CLUSTER, Operation.CLUSTER_ACTION),
}


def find_coordinator(
    event: Received,
    request: find_coordinator_request.FindCoordinatorRequest,
    authorizer: Authorizer | None,
) -> find_coordinator_response.FindCoordinatorResponse:
    """Return COORDINATOR_NOT_AVAILABLE for each key that the client may describe.

    An unknown kind of coordinator is INVALID_REQUEST.
    """
    if event.version < _LISTS_FROM:
        error = _error(event, request.key_type, request.key, authorizer)
        return find_coordinator_response.FindCoordinatorResponse(
            error_code=error,
            error_message=_MESSAGE if event.version >= 1 else None,
            node_id=-1,
            port=-1,
        )
    return find_coordinator_response.FindCoordinatorResponse(
        coordinators=tuple(
            find_coordinator_response.Coordinator(
                key=key,
                node_id=-1,
                port=-1,
                error_code=_error(event, request.key_type, key, authorizer),
                error_message=_MESSAGE,
            )
            for key in request.coordinator_keys
        )
    )


def _error(event: Received, key_type: int, key: str, authorizer: Authorizer | None) -> ErrorCode:
    right = _RIGHTS.get(key_type)
    if right is None:
        return ErrorCode.INVALID_REQUEST
    kind, operation = right
    name = CLUSTER_NAME if kind is ResourceKind.CLUSTER else key
    if authorizer is None or authorizer.allows(event, operation, kind, name):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ERRORS[kind]
