"""Error table of Apache Kafka: only errors that every try of a request would get are `fail`.

A broker forwards a request to the active controller and repeats the request after a lost answer
(KIP-590). So an error that depends on the state of the cluster says nothing about earlier tries.
NOT_CONTROLLER is no refusal either: a controller that loses the lead answers so for requests whose
records are in its log and may yet be committed.
"""

from typing import Final

from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.kafka.log_requests import (
    READS,
    SEND_REFUSALS,
    SEND_TO_LEADER,
    STALE_LEADER,
)
from kraftproof.node.wire.errors import ErrorCode

_OF_THE_REQUEST: Final = frozenset(
    {
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_REQUEST,
    }
)
"""Refusals for what the request says, whatever the API."""

REFUSALS: Final[dict[str, frozenset[int]]] = {
    "create": _OF_THE_REQUEST
    | {
        ErrorCode.INVALID_PARTITIONS,
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_CONFIG,
    },
    "delete": _OF_THE_REQUEST | {ErrorCode.TOPIC_DELETION_DISABLED},
    "alter": _OF_THE_REQUEST | {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_CONFIG},
    "send": SEND_REFUSALS,
    # With acks=1 Kafka checks its leadership, appends and flushes under one lock, and answers.
    SEND_TO_LEADER: SEND_REFUSALS | STALE_LEADER,
}
ERRORS: Final = ErrorTable(reads=READS | {"lookup", "describe"}, refusals=REFUSALS)
