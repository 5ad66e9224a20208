"""Error table of the reference system: (API, error code) to the outcome of an operation.

Only codes that say for certain that nothing was done are `fail`. Whatever is not in the table is
`info` for an operation that changes state. An operation that only reads changes nothing, so
there everything but an answer is `fail`. Codes that are an observation of the state (a topic
exists) are `ok` and belong to the client. KIP-590 says which errors a forwarding broker gives.
"""

from typing import Final

from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.kafka.log_requests import READS, SEND_REFUSALS, SEND_TO_LEADER
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

_NO_TOKEN: Final = frozenset(
    {
        ErrorCode.DELEGATION_TOKEN_NOT_FOUND,
        ErrorCode.DELEGATION_TOKEN_EXPIRED,
        ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH,
    }
)
"""The token has ended, and nothing was changed."""

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
    # A leader that flushes each append may lose its leadership before the flush ends: so
    # NOT_LEADER_OR_FOLLOWER is no proof. An appended batch of a deleted topic has this error, too.
    SEND_TO_LEADER: SEND_REFUSALS | {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION},
    **dict.fromkeys(("grant", "revoke", "set", "prepare"), _NEVER_TRIED),
    "remove": _NEVER_TRIED | _NO_TOKEN | {ErrorCode.RESOURCE_NOT_FOUND},
    **dict.fromkeys(("renew", "expire"), _NEVER_TRIED | _NO_TOKEN),
}
ERRORS: Final = ErrorTable(
    reads=READS | {"lookup", "describe", "ask", "await", "login", "confirm", "read"},
    refusals=DEFINITE_REFUSALS,
)
