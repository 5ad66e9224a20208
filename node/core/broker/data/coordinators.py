"""Answer requests for coordinators: this broker has neither groups nor transactions.

A client gets a clear answer at once, and no silence. Real Kafka brokers on the same controllers
serve groups and transactions.
"""

from typing import Final

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import find_coordinator_request, find_coordinator_response

_LISTS_FROM: Final = 4
"""The first version of FindCoordinator with a list of keys."""
_KINDS: Final = 3
"""The kinds of coordinators: of groups, of transactions and of share groups."""
_MESSAGE: Final = "this broker has no group and no transaction coordinator"


def find_coordinator(
    request: find_coordinator_request.FindCoordinatorRequest, version: int
) -> find_coordinator_response.FindCoordinatorResponse:
    """Return COORDINATOR_NOT_AVAILABLE for each key, or INVALID_REQUEST for an unknown kind."""
    is_known = 0 <= request.key_type < _KINDS
    error = ErrorCode.COORDINATOR_NOT_AVAILABLE if is_known else ErrorCode.INVALID_REQUEST
    if version < _LISTS_FROM:
        return find_coordinator_response.FindCoordinatorResponse(
            error_code=error,
            error_message=_MESSAGE if version >= 1 else None,
            node_id=-1,
            port=-1,
        )
    return find_coordinator_response.FindCoordinatorResponse(
        coordinators=tuple(
            find_coordinator_response.Coordinator(
                key=key, node_id=-1, port=-1, error_code=error, error_message=_MESSAGE
            )
            for key in request.coordinator_keys
        )
    )
