"""Error table of the reference system: (API, error code) to the outcome of an operation.

Only codes that say for certain that nothing was done are `fail`. Whatever is not in the table is
`info` for an operation that changes state. An operation that only reads changes nothing, so
there everything but an answer is `fail`. Codes that are an observation of the state (a topic
exists) are `ok` and belong to the client. KIP-590 says which errors a forwarding broker gives.
"""

from typing import Final

from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.kafka.log_requests import READS, SEND_REFUSALS
from kraftproof.node.wire.errors import ErrorCode

_NEVER_TRIED: Final = frozenset(
    {
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_REQUEST,
    }
)
"""Refused before anything was tried, whatever the API."""

DEFINITE_REFUSALS: Final[dict[str, frozenset[int]]] = {
    "create": _NEVER_TRIED
    | {
        ErrorCode.INVALID_REPLICATION_FACTOR,
        ErrorCode.INVALID_PARTITIONS,
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_CONFIG,
    },
    "delete": _NEVER_TRIED | {ErrorCode.TOPIC_DELETION_DISABLED},
    "register": _NEVER_TRIED | {ErrorCode.INCONSISTENT_CLUSTER_ID, ErrorCode.INVALID_REGISTRATION},
    "heartbeat": _NEVER_TRIED,
    "unregister": _NEVER_TRIED,
    "alter": _NEVER_TRIED | {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_CONFIG},
    "send": SEND_REFUSALS,
}
ERRORS: Final = ErrorTable(reads=READS | {"lookup", "describe"}, refusals=DEFINITE_REFUSALS)
