"""Short text of messages, batches and states for a sequence diagram.

A position in the log is written `12@3`: offset 12 in epoch 3.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.begin_quorum_epoch_request import (
    BeginQuorumEpochRequest,
)
from kraftproof.node.wire.messages.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftproof.node.wire.messages.generated.broker_heartbeat_response import (
    BrokerHeartbeatResponse,
)
from kraftproof.node.wire.messages.generated.broker_registration_request import (
    BrokerRegistrationRequest,
)
from kraftproof.node.wire.messages.generated.broker_registration_response import (
    BrokerRegistrationResponse,
)
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest
from kraftproof.node.wire.messages.generated.create_topics_response import CreateTopicsResponse
from kraftproof.node.wire.messages.generated.delete_topics_request import DeleteTopicsRequest
from kraftproof.node.wire.messages.generated.delete_topics_response import DeleteTopicsResponse
from kraftproof.node.wire.messages.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse
from kraftproof.node.wire.messages.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftproof.node.wire.messages.generated.vote_request import VoteRequest
from kraftproof.node.wire.messages.generated.vote_response import VoteResponse
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.field import metadata_batches
from kraftproof.node.wire.types import ZERO_UUID, Uuid, format_uuid

MAX_NAMES = 3
"""Maximum number of named topics or records; the text has only the number of further names."""
SHORT_ID = 6
"""Characters of a random id, enough to distinguish the ids of one run."""


def api_of(message: Message) -> str:
    """Return the name of a message's API: `Vote` of a VoteRequest and of a VoteResponse."""
    return type(message).__name__.removesuffix("Request").removesuffix("Response")


def format_response(message: Message) -> str:
    """Return the text of a response: the names of its errors, then its contents."""
    errors = ", ".join(dict.fromkeys(_error_names(message)))
    words = format_request(message)
    return ", ".join(part for part in (errors, words) if part) or "ok"


def format_batch(batch: Batch) -> str:
    """Return the position of a batch in the log and the names of its records."""
    first, last = batch.base_offset, batch.last_offset
    place = f"{first}" if first == last else f"{first}-{last}"
    names = _counted([_format_record(record) for record in batch.records])
    return f"{place}@{batch.epoch} {names}"


def format_quorum_state(state: QuorumState) -> str:
    """Return the text of a quorum-state file."""
    voted = f", voted for {state.voted_for}" if state.voted_for != NO_NODE else ""
    leader = f", leader {state.leader}" if state.leader != NO_NODE else ""
    return f"epoch {state.epoch}{voted}{leader}"


def format_status_change(before: NodeStatus | None, after: NodeStatus) -> str:
    """Return the text of a status change; empty if only the log end has changed."""
    parts = []
    if before is None or _place(before) != _place(after):
        leader = f" of {after.leader}" if after.leader != NO_NODE and after.role != LEADER else ""
        parts.append(f"{after.role}{leader}, epoch {after.epoch}")
    for name, field in (
        ("HW", "high_watermark"),
        ("flushed", "flushed"),
        ("image", "image_offset"),
    ):
        value = getattr(after, field)
        if value > 0 and (before is None or getattr(before, field) != value):
            parts.append(f"{name} {value}")
    if after.broker_state is not None and (
        before is None or before.broker_state != after.broker_state
    ):
        parts.append(f"broker state {after.broker_state}")
    return ", ".join(parts)


def _place(status: NodeStatus) -> tuple[str, int, int]:
    return status.role, status.epoch, status.leader


def format_request(message: Message) -> str:
    """Return the text of a request's contents, without the name of the API."""
    of_class = _OF_CLASS.get(type(message))
    return of_class(message) if of_class is not None else _other(message)


def _error_names(entity: object) -> list[str]:
    """Return the names of every error in a response, at any depth."""
    if isinstance(entity, tuple):
        return [name for one in entity for name in _error_names(one)]
    fields: Sequence[str] = getattr(entity, "__struct_fields__", ())
    names = []
    for field in fields:
        value = getattr(entity, field)
        if field == "error_code":
            names += [ErrorCode(value).name if value in _CODES else f"error {value}"] * (value != 0)
        elif isinstance(value, tuple) or hasattr(value, "__struct_fields__"):
            names += _error_names(value)
    return names


_CODES = frozenset(code.value for code in ErrorCode)


def _only_partition(message: Any) -> Any:  # noqa: ANN401 - the generated classes share no base
    """Return the entry of the metadata partition; None in a response with a top-level error."""
    topics = message.responses if isinstance(message, FetchResponse) else message.topics
    return topics[0].partitions[0] if topics and topics[0].partitions else None


def _vote(request: VoteRequest) -> str:
    if (asked := _only_partition(request)) is None:
        return ""
    end = f"{asked.last_offset}@{asked.last_offset_epoch}"
    return f"epoch {asked.replica_epoch}, candidate {asked.replica_id}, log end {end}"


def _voted(response: VoteResponse) -> str:
    if (said := _only_partition(response)) is None:
        return ""
    return f"{'granted' if said.vote_granted else 'refused'}, epoch {said.leader_epoch}"


def _begin(request: BeginQuorumEpochRequest) -> str:
    said = _only_partition(request)
    return "" if said is None else f"epoch {said.leader_epoch}, leader {said.leader_id}"


def _end(request: EndQuorumEpochRequest) -> str:
    if (said := _only_partition(request)) is None:
        return ""
    successors = " ".join(map(str, said.preferred_successors))
    return f"epoch {said.leader_epoch}, leader {said.leader_id}, successors {successors}"


def _fetch(request: FetchRequest) -> str:
    if (asked := _only_partition(request)) is None:
        return ""
    at = f"{asked.fetch_offset}@{asked.last_fetched_epoch}"
    return f"from {at}, epoch {asked.current_leader_epoch}"


def _fetched(response: FetchResponse) -> str:
    if (said := _only_partition(response)) is None:
        return ""
    parts = []
    if said.diverging_epoch.end_offset >= 0:
        diverging = said.diverging_epoch
        parts.append(f"diverges after {diverging.end_offset}@{diverging.epoch}")
    if said.snapshot_id.end_offset >= 0:
        parts.append(f"take snapshot {said.snapshot_id.end_offset}@{said.snapshot_id.epoch}")
    if batches := metadata_batches(said.records):
        parts.append(
            f"records {batches[0].base_offset}-{batches[-1].last_offset}@{batches[-1].epoch}"
        )
    if said.current_leader.leader_epoch >= 0 and said.error_code != 0:
        leader = said.current_leader
        parts.append(f"leader {leader.leader_id} of epoch {leader.leader_epoch}")
    if said.error_code == 0:
        parts.append(f"HW {said.high_watermark}")
    return ", ".join(parts)


def _fetch_snapshot(request: FetchSnapshotRequest) -> str:
    if (asked := _only_partition(request)) is None:
        return ""
    snapshot = f"{asked.snapshot_id.end_offset}@{asked.snapshot_id.epoch}"
    return f"{snapshot} from byte {asked.position}, epoch {asked.current_leader_epoch}"


def _fetched_snapshot(response: FetchSnapshotResponse) -> str:
    if (said := _only_partition(response)) is None:
        return ""
    return f"bytes {said.position}+{len(said.unaligned_records)} of {said.size}"


def _heartbeat(request: BrokerHeartbeatRequest) -> str:
    wishes = [" wants fencing"] * request.want_fence + [" wants to stop"] * request.want_shut_down
    at = f"broker {request.broker_id}, epoch {request.broker_epoch}"
    return f"{at}, at {request.current_metadata_offset}{''.join(wishes)}"


def _heart_beaten(response: BrokerHeartbeatResponse) -> str:
    states = (
        (response.is_fenced, "fenced"),
        (not response.is_caught_up, "behind"),
        (response.should_shut_down, "may stop"),
    )
    return ", ".join(word for holds, word in states if holds) if response.error_code == 0 else ""


def _register(request: BrokerRegistrationRequest) -> str:
    return f"broker {request.broker_id}, incarnation {_short(request.incarnation_id)}"


def _registered(response: BrokerRegistrationResponse) -> str:
    return f"epoch {response.broker_epoch}" if response.broker_epoch >= 0 else ""


def _create(request: CreateTopicsRequest) -> str:
    only = " (validate only)" if request.validate_only else ""
    return _counted([topic.name for topic in request.topics]) + only


def _created(response: CreateTopicsResponse) -> str:
    return _counted([_named(topic.name, topic.topic_id) for topic in response.topics])


def _deleted(response: DeleteTopicsResponse) -> str:
    return _counted([topic.name or _short(topic.topic_id) for topic in response.responses])


def _named(name: str, topic_id: Uuid) -> str:
    return name if topic_id == ZERO_UUID else f"{name} is {_short(topic_id)}"


def _delete(request: DeleteTopicsRequest) -> str:
    named = [topic.name or _short(topic.topic_id) for topic in request.topics]
    return _counted([*request.topic_names, *named])


def _other(message: Message) -> str:
    """Return the fields that differ from their defaults, by their names in the protocol."""
    plain = type(message)()
    values = ((field, getattr(message, field)) for field in message.__struct_fields__)
    said = [
        f"{field} {value}"
        for field, value in values
        if isinstance(value, int | str)
        and value != getattr(plain, field)
        and field not in _NEVER_SAID
    ]
    return ", ".join(said[:MAX_NAMES])


_NEVER_SAID = frozenset({"error_code", "throttle_time_ms", "cluster_id", "timeout_ms"})


def _format_record(record: object) -> str:
    kind = type(record).__name__.removesuffix("Record")
    for field in ("name", "broker_id", "leader_id"):
        value = getattr(record, field, None)
        if isinstance(value, int | str):
            return f"{kind} {value}"
    return kind


def _counted(names: Sequence[str]) -> str:
    """Return the first names, and the number of further names."""
    more = f" +{len(names) - MAX_NAMES}" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def _short(uuid: Uuid) -> str:
    return format_uuid(uuid)[:SHORT_ID]


_OF_CLASS: Mapping[type[Message], Callable[[Any], str]] = {
    BeginQuorumEpochRequest: _begin,
    BrokerHeartbeatRequest: _heartbeat,
    BrokerHeartbeatResponse: _heart_beaten,
    BrokerRegistrationRequest: _register,
    BrokerRegistrationResponse: _registered,
    CreateTopicsRequest: _create,
    CreateTopicsResponse: _created,
    DeleteTopicsRequest: _delete,
    DeleteTopicsResponse: _deleted,
    EndQuorumEpochRequest: _end,
    FetchRequest: _fetch,
    FetchResponse: _fetched,
    FetchSnapshotRequest: _fetch_snapshot,
    FetchSnapshotResponse: _fetched_snapshot,
    VoteRequest: _vote,
    VoteResponse: _voted,
}
