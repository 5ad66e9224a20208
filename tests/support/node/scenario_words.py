"""One line of plain words for each effect and message of the quorum, for scenario files."""

from kraftproof.node.core.effects import (
    Append,
    Exit,
    Flush,
    PersistQuorumState,
    Reply,
    Send,
    Truncate,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    describe_quorum_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    fetch_request,
    fetch_response,
    vote_request,
    vote_response,
)
from kraftproof.node.wire.records.control import LeaderChange


def effect_words(effect, hears):
    match effect:
        case str():
            return effect
        case PersistQuorumState():
            state = effect.state
            return f"persist epoch {state.epoch} vote {state.voted_for} leader {state.leader}"
        case Append():
            return f"append {batch_words(effect.batch)}"
        case Flush():
            return f"flush to {effect.end_offset} of log {effect.generation}"
        case Truncate():
            return f"truncate to {effect.end_offset}"
        case Send():
            return f"send {effect.destination} {request_words(effect.message)}"
        case Reply():
            to = hears.get(effect.request)
            return f"answer {'' if to is None else f'{to} '}{answer_words(effect.message)}"
        case Exit():
            return f"exit {effect.status}: {effect.reason}"


def batch_words(batch):
    names = " ".join(
        f"LeaderChange({record.leader_id})" if isinstance(record, LeaderChange) else record.name
        for record in batch.records
    )
    return f"{names}@{batch.base_offset}e{batch.epoch}"


def request_words(message):
    partition = message.topics[0].partitions[0]
    match message:
        case vote_request.VoteRequest():
            log = f"{partition.last_offset}e{partition.last_offset_epoch}"
            return f"Vote epoch {partition.replica_epoch} log {log}"
        case begin_quorum_epoch_request.BeginQuorumEpochRequest():
            return f"BeginQuorumEpoch epoch {partition.leader_epoch}"
        case end_quorum_epoch_request.EndQuorumEpochRequest():
            successors = [info.candidate_id for info in partition.preferred_candidates]
            return f"EndQuorumEpoch epoch {partition.leader_epoch} successors {successors}"
        case fetch_request.FetchRequest():
            log = f"{partition.fetch_offset}e{partition.last_fetched_epoch}"
            wait = f" wait {message.max_wait_ms} ms" if message.max_wait_ms else ""
            return f"Fetch epoch {partition.current_leader_epoch} from {log}{wait}"


def answer_words(message):
    match message:
        case fetch_response.FetchResponse():
            return fetch_answer_words(message)
        case describe_quorum_response.DescribeQuorumResponse():
            return describe_words(message)
    name = type(message).__name__.removesuffix("Response")
    if message.error_code:
        return f"{name} {ErrorCode(message.error_code).name}"
    partition = message.topics[0].partitions[0]
    error = "" if not partition.error_code else f" {ErrorCode(partition.error_code).name}"
    vote = ""
    if isinstance(message, vote_response.VoteResponse):
        vote = " granted" if partition.vote_granted else " refused"
    else:
        assert isinstance(
            message,
            begin_quorum_epoch_response.BeginQuorumEpochResponse
            | end_quorum_epoch_response.EndQuorumEpochResponse,
        )
    known = f"epoch {partition.leader_epoch} leader {partition.leader_id}"
    return f"{name}{vote}{error} {known}"


def fetch_answer_words(message):
    partition = message.responses[0].partitions[0]
    known = partition.current_leader
    words = ["Fetch"]
    if partition.error_code:
        words.append(ErrorCode(partition.error_code).name)
    words.append(f"epoch {known.leader_epoch} leader {known.leader_id}")
    if partition.diverging_epoch.epoch >= 0:
        diverging = partition.diverging_epoch
        words.append(f"diverging at {diverging.end_offset}e{diverging.epoch}")
    words += [batch_words(batch) for batch in partition.records or ()]
    words.append(f"high watermark {partition.high_watermark}")
    return " ".join(words)


def describe_words(message):
    partition = message.topics[0].partitions[0]
    error = "" if not partition.error_code else f" {ErrorCode(partition.error_code).name}"
    voters = " ".join(f"{v.replica_id}:{v.log_end_offset}" for v in partition.current_voters)
    observers = " ".join(f"{v.replica_id}:{v.log_end_offset}" for v in partition.observers)
    return (
        f"DescribeQuorum{error} leader {partition.leader_id} epoch {partition.leader_epoch}"
        f" high watermark {partition.high_watermark} voters {voters} observers {observers}"
    )
