"""Bugs that are planted in limits, exemptions and rare states of the node; see planted.py."""

from typing import Any

from kraftproof.node.core.quotas import request_times
from kraftproof.node.wire.messages import alter_partition_request, fetch_request


def _exempt_by_old_field(event: Any) -> Any:
    """Exempt a Fetch by the field of versions below 15 alone."""
    if isinstance(event.message, fetch_request.FetchRequest):
        return event.message.replica_id >= 0
    return _IS_EXEMPT(event)


_IS_EXEMPT = request_times._is_exempt
_NO_LEADERS = request_times._OF_NODES - {alter_partition_request.AlterPartitionRequest}
PLANTED = [
    ("compare_exempt_requests", request_times, "_is_exempt", _exempt_by_old_field),
    ("compare_exempt_requests", request_times, "_OF_NODES", _NO_LEADERS),
]
