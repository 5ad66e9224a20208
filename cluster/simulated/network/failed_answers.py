"""Requests between nodes that are refused, and answers that arrive as errors or incomplete.

A peer of another version or implementation may refuse a request with any error, before or after
its execution, and its answer may lack what the request asked for. The node has to wait, ask again
and stay safe, as after a lost answer. Requests of clients always reach the node, and its answers
the clients, since a client would draw conclusions from an error.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    envelope_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
    vote_response,
)
from kraftproof.node.wire.records.field import metadata_batches

SHARE: Final = 0.15
"""Share of runs with failed answers."""
FAILED_SHARES: Final = (0.003, 0.02, 0.1)
"""Share of the answers between nodes that fail, drawn for a run."""
ERRORS: Final = (
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.BROKER_NOT_AVAILABLE,
    ErrorCode.UNSUPPORTED_VERSION,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
)
Fail = Callable[[Message, Random], Message]


def _fetch(message: Message, random: Random) -> Message:
    assert isinstance(message, fetch_response.FetchResponse)
    if random.random() < 0.3:
        return fetch_response.FetchResponse(error_code=random.choice(ERRORS))
    if not message.responses or not message.responses[0].partitions or random.random() < 0.2:
        return fetch_response.FetchResponse()
    partition = message.responses[0].partitions[0]
    batches = metadata_batches(partition.records)
    if len(batches) > 1:  # a gap before the records, which ends the Fetch without an append
        partition = replace(partition, records=batches[1:], high_watermark=-1)
    else:
        partition = fetch_response.PartitionData(error_code=random.choice(ERRORS))
    topic = replace(message.responses[0], partitions=(partition,))
    return replace(message, responses=(topic,))


_NOBODY: Final = fetch_snapshot_response.LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1)


def _fetch_snapshot(message: Message, random: Random) -> Message:
    assert isinstance(message, fetch_snapshot_response.FetchSnapshotResponse)
    if random.random() < 0.4 or not message.topics or not message.topics[0].partitions:
        error = random.choice((ErrorCode.NONE, *ERRORS))
        return fetch_snapshot_response.FetchSnapshotResponse(error_code=error)
    # An unfit slice names no leader, so that no invariant takes the slice for the leader's success.
    partition = replace(message.topics[0].partitions[0], current_leader=_NOBODY)
    other = random.randrange(5)
    if other == 0:
        partition = replace(partition, error_code=ErrorCode.SNAPSHOT_NOT_FOUND)
    elif other == 1:
        partition = replace(partition, position=partition.position + 1)
    elif other == 2:
        partition = replace(partition, size=partition.size + 1)
    elif other == 3:  # other bytes, which the checksums of the whole snapshot show
        garbage = b"\xff" * len(partition.unaligned_records)
        partition = replace(partition, unaligned_records=garbage)
    else:
        partition = replace(partition, unaligned_records=b"")
    topic = replace(message.topics[0], partitions=(partition,))
    return replace(message, topics=(topic,))


def _with_error(message: Message, random: Random) -> Message:
    """Return an answer of the same type with an error and nothing else."""
    kind: Callable[..., Message] = type(message)
    return kind(error_code=random.choice(ERRORS))


def _maybe_empty(message: Message, random: Random) -> Message:
    """Return an answer with an error, or without any content."""
    kind: Callable[..., Message] = type(message)
    return kind() if random.random() < 0.3 else _with_error(message, random)


_FAILURES: Final[dict[type[Message], Fail]] = {
    fetch_response.FetchResponse: _fetch,
    fetch_snapshot_response.FetchSnapshotResponse: _fetch_snapshot,
    vote_response.VoteResponse: _maybe_empty,
    begin_quorum_epoch_response.BeginQuorumEpochResponse: _maybe_empty,
    end_quorum_epoch_response.EndQuorumEpochResponse: _maybe_empty,
    broker_registration_response.BrokerRegistrationResponse: _with_error,
    broker_heartbeat_response.BrokerHeartbeatResponse: _with_error,
}


_REFUSALS: Final[dict[type[Message], Callable[..., Message]]] = {
    fetch_request.FetchRequest: fetch_response.FetchResponse,
    fetch_snapshot_request.FetchSnapshotRequest: fetch_snapshot_response.FetchSnapshotResponse,
    vote_request.VoteRequest: vote_response.VoteResponse,
    begin_quorum_epoch_request.BeginQuorumEpochRequest: (
        begin_quorum_epoch_response.BeginQuorumEpochResponse
    ),
    end_quorum_epoch_request.EndQuorumEpochRequest: (
        end_quorum_epoch_response.EndQuorumEpochResponse
    ),
    broker_registration_request.BrokerRegistrationRequest: (
        broker_registration_response.BrokerRegistrationResponse
    ),
    broker_heartbeat_request.BrokerHeartbeatRequest: (
        broker_heartbeat_response.BrokerHeartbeatResponse
    ),
}
"""The type of the answer to each request that may be refused."""


class FailedAnswers:
    """Refuses a drawn share of the requests between nodes, and changes a share of the answers."""

    __slots__ = ("_random", "_share")

    def __init__(self, random: Random, share: float) -> None:
        self._random = random
        self._share = share

    @classmethod
    def draw(cls, random: Random) -> "FailedAnswers | None":
        """Draw the share of a run; None for most runs."""
        if random.random() >= SHARE:
            return None
        return cls(random, random.choice(FAILED_SHARES))

    def refusal(self, request: Message, *, is_forwarded: bool) -> Message | None:
        """Return the refusal of a request that is not executed; None if the request arrives."""
        if self._random.random() >= self._share:
            return None
        kind: Callable[..., Message] | None = envelope_response.EnvelopeResponse
        if not is_forwarded:
            kind = _REFUSALS.get(type(request))
        return None if kind is None else kind(error_code=self._random.choice(ERRORS))

    def changed(self, message: Message) -> Message:
        """Return the answer that arrives in place of an answer."""
        if self._random.random() >= self._share:
            return message
        fail = _FAILURES.get(type(message))
        return message if fail is None else fail(message, self._random)

    def describe(self) -> str:
        """Describe the faults in a few words."""
        return f"failed answers {self._share:.1%}"
