"""Decide CreateTopics and DeleteTopics (KIP-631 "Topic Identifiers", "RemoveTopic").

The functions are pure: (image, request, random) -> Outcome. Each topic succeeds or fails alone,
except for the limits on the whole request: time, partitions and records.
"""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.configs.effective import (
    NO_LAYERS,
    ConfigSource,
    EffectiveConfig,
    Layers,
    SetConfigs,
    effective_configs,
    layers_of,
    values_for_topics,
)
from kraftproof.node.core.controller.assignment import (
    Replicas,
    TopicError,
    assign,
    charge_partitions,
    topic_records,
    validate_configs,
    validate_name,
)
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.placement import Placement
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.image import MetadataImage, Topic
from kraftproof.node.core.metadata.names import INTERNAL_TOPICS, METADATA_TOPIC
from kraftproof.node.core.quotas.mutations import MutationCharge
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import UUID_BYTES, ZERO_UUID, Uuid, format_uuid

if TYPE_CHECKING:
    from random import Random

CreateRequest = create_topics_request.CreateTopicsRequest
CreatableTopic = create_topics_request.CreatableTopic
TopicResult = create_topics_response.CreatableTopicResult
TopicConfigs = create_topics_response.CreatableTopicConfigs
DeleteRequest = delete_topics_request.DeleteTopicsRequest
TopicState = delete_topics_request.DeleteTopicState
DeleteResult = delete_topics_response.DeletableTopicResult

MAX_RECORDS: Final = 10_000
"""Kafka's limit on the requested partitions and on the written records of a request."""
_RESERVED_IDS: Final = 1 << 64
"""Kafka reserves the smaller ids, such as zero and the id of the metadata topic."""
_OUT_OF_TIME: Final = "the request's timeoutMs left no time to carry it out"


def create_topics(
    image: MetadataImage,
    request: CreateRequest,
    config: NodeConfig,
    random: "Random",
    charge: MutationCharge | None = None,
) -> Outcome:
    """Create topics; with validate_only, validate the request without records."""
    times = Counter(topic.name for topic in request.topics)
    refused = [
        _not_created(name, TopicError(ErrorCode.INVALID_REQUEST, problem))
        for name, problem in _refused_names(times)
    ]
    names_refused = {result.name for result in refused}
    tried = [topic for topic in request.topics if topic.name not in names_refused]
    results: list[TopicResult] = []
    written: list[Record] = []
    request_error = _request_error(request, tried, config)
    if request_error is None:
        results, written = _create(image, request, tried, config, random, charge)
        if len(written) > MAX_RECORDS:
            request_error = TopicError(
                ErrorCode.POLICY_VIOLATION,
                f"more than {MAX_RECORDS} records, which are the most that a request may write",
            )
    if request_error is not None:
        results, written = [_not_created(topic.name, request_error) for topic in tried], []
    reply = create_topics_response.CreateTopicsResponse(topics=(*results, *refused))
    return Outcome(reply=reply, records=() if request.validate_only else tuple(written))


def _refused_names(times: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the names that are refused without a try, each with the reason."""
    return [
        (name, f"{name} is the cluster's own topic")
        if name == METADATA_TOPIC
        else (name, "the topic is named more than once")
        for name, count in times.items()
        if count > 1 or name == METADATA_TOPIC
    ]


def _request_error(
    request: CreateRequest, tried: list[CreatableTopic], config: NodeConfig
) -> TopicError | None:
    if request.timeout_ms <= 0:
        return TopicError(ErrorCode.REQUEST_TIMED_OUT, _OUT_OF_TIME)
    partitions = sum(_asked_partitions(topic, config) for topic in tried)
    if partitions > MAX_RECORDS:
        return TopicError(
            ErrorCode.POLICY_VIOLATION,
            f"{partitions} partitions: {MAX_RECORDS} are the most that a request may ask for",
        )
    return None


def _asked_partitions(topic: CreatableTopic, config: NodeConfig) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return config.default_partitions if topic.num_partitions == -1 else max(topic.num_partitions, 0)


def _create(
    image: MetadataImage,
    request: CreateRequest,
    tried: list[CreatableTopic],
    config: NodeConfig,
    random: "Random",
    charge: MutationCharge | None,
) -> tuple[list[TopicResult], list[Record]]:
    results: list[TopicResult] = []
    written: list[Record] = []
    placement = Placement(image)
    # As in Kafka, the values of the controller's file count; a broker's file may differ.
    layers = layers_of(image, config.node_id, values_for_topics(config.static_configs))
    for topic in tried:
        if len(written) > MAX_RECORDS:
            break  # the whole request is refused, so the rest does not matter
        try:
            configs = _validate(image, topic)
            replicas = assign(placement, topic, config, random)
            _check_policy(topic, replicas, configs, config)
            charge_partitions(charge, len(replicas))
        except TopicError as refused:
            results.append(_not_created(topic.name, refused))
            continue
        topic_id = ZERO_UUID if request.validate_only else _new_id(image, random)
        written += topic_records(placement, topic.name, topic_id, configs, replicas)
        results.append(_created(topic, topic_id, configs, layers, replicas))
    return results, written


def _validate(image: MetadataImage, topic: CreatableTopic) -> SetConfigs:
    if topic.name in image.topic_ids:
        raise TopicError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {topic.name} exists")
    validate_name(image, topic.name)
    return validate_configs(topic)


def _check_policy(
    topic: CreatableTopic, replicas: list[Replicas], configs: SetConfigs, config: NodeConfig
) -> None:
    """Ask the policy of create.topic.policy.class.name; internal topics bypass the policy (590-16).

    The policy sees the numbers that the defaults stand for.

    Raises:
        TopicError: the policy refuses the topic.
    """
    if config.create_topic_policy is None or topic.name in INTERNAL_TOPICS:
        return
    counts = (-1, -1) if topic.assignments else (len(replicas), len(replicas[0]))
    try:
        config.create_topic_policy(topic.name, *counts, configs)
    except ValueError as refused:
        raise TopicError(ErrorCode.POLICY_VIOLATION, str(refused)) from refused


def _created(
    topic: CreatableTopic,
    topic_id: Uuid,
    configs: SetConfigs,
    layers: Layers,
    replicas: list[Replicas],
) -> TopicResult:
    return TopicResult(
        name=topic.name,
        topic_id=topic_id,
        num_partitions=len(replicas),
        replication_factor=len(replicas[0]),
        configs=(
            _shown_configs(configs, layers)
            if configs or layers is not NO_LAYERS
            else _DEFAULT_CONFIGS
        ),
    )


def _shown(entry: EffectiveConfig) -> TopicConfigs:
    return TopicConfigs(name=entry.name, value=entry.value, config_source=entry.source)


def _shown_configs(configs: SetConfigs, layers: Layers) -> tuple[TopicConfigs, ...]:
    # Default entries are shared, since a request may create thousands of topics.
    if layers is not NO_LAYERS or not _PLACES.keys() >= configs.keys():
        return tuple(map(_shown, effective_configs(configs, layers)))
    shown = list(_DEFAULT_CONFIGS)
    for name, value in configs.items():
        shown[_PLACES[name]] = TopicConfigs(
            name=name, value=value, config_source=ConfigSource.DYNAMIC_TOPIC
        )
    return tuple(shown)


_DEFAULT_CONFIGS: Final = tuple(map(_shown, effective_configs({})))
_PLACES: Final = {entry.name: place for place, entry in enumerate(_DEFAULT_CONFIGS)}


def _not_created(name: str, refused: TopicError) -> TopicResult:
    return TopicResult(name=name, error_code=refused.error, error_message=refused.reason)


def _new_id(image: MetadataImage, random: "Random") -> Uuid:
    """Return a random unused topic id (631-67)."""
    while True:
        number = random.getrandbits(8 * UUID_BYTES)
        topic_id = Uuid(number.to_bytes(UUID_BYTES, "big"))
        if number >= _RESERVED_IDS and topic_id not in image.topics:
            return topic_id


def delete_topics(
    image: MetadataImage, request: DeleteRequest, charge: MutationCharge | None = None
) -> Outcome:
    """Delete topics by name or by id.

    A request may name at most MAX_RECORDS topics, since an unknown name costs time, too.
    """
    if request.timeout_ms <= 0:
        return Outcome(reply=refusal(request, ErrorCode.REQUEST_TIMED_OUT, _OUT_OF_TIME))
    asked = len(request.topics) + len(request.topic_names)
    if asked > MAX_RECORDS:
        reason = f"{asked} topics: {MAX_RECORDS} are the most that a request may name"
        return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, reason))
    states = Counter((*request.topics, *(TopicState(name=name) for name in request.topic_names)))
    found = {state: _find(image, state, times) for state, times in states.items()}
    by_id = {state.topic_id for state in states if state.name is None}
    by_name = {
        topic.topic_id
        for state, topic in found.items()
        if state.name is not None and isinstance(topic, Topic)
    }
    twice = TopicError(ErrorCode.INVALID_REQUEST, "the topic is named by its name and by its id")
    results: list[DeleteResult] = []
    written: list[Record] = []
    for state, topic in found.items():
        if isinstance(topic, TopicError):
            results.append(_not_deleted(state, topic))
        elif topic.topic_id in by_id & by_name:
            if state.name is not None:
                both = TopicState(name=topic.name, topic_id=topic.topic_id)
                results.append(_not_deleted(both, twice))
        else:
            try:
                charge_partitions(charge, len(image.partitions[topic.topic_id]))
            except TopicError as refused:
                results.append(_not_deleted(state, refused))
                continue
            results.append(DeleteResult(name=topic.name, topic_id=topic.topic_id))
            written.append(records.RemoveTopicRecord(topic_id=topic.topic_id))
    reply = delete_topics_response.DeleteTopicsResponse(responses=tuple(results))
    return Outcome(reply=reply, records=tuple(written))


def _find(image: MetadataImage, state: TopicState, times: int) -> Topic | TopicError:
    if (state.name is None) == (state.topic_id == ZERO_UUID):
        return TopicError(ErrorCode.INVALID_REQUEST, "a name or an id is wanted, one of the two")
    if times > 1:
        return TopicError(ErrorCode.INVALID_REQUEST, "the topic is named more than once")
    if state.name is not None:
        return image.topic_named(state.name) or TopicError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {state.name[:260]}"
        )
    return image.topics.get(state.topic_id) or TopicError(
        ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic {format_uuid(state.topic_id)}"
    )


def _not_deleted(state: TopicState, refused: TopicError) -> DeleteResult:
    return DeleteResult(
        name=state.name,
        topic_id=state.topic_id,
        error_code=refused.error,
        error_message=refused.reason,
    )
