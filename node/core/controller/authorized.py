"""Let the active controller decide what the original principal may do (KIP-590, 590-04).

A request is refused as a whole, or the parts without a right are refused and the others decided.
Each refusal is answered like a decision, after the read barrier: a deposed controller, whose access
control entries may be old, refuses nobody. See node/core/security/required.py for the rights.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.controller.decisions import DECISIONS, DecisionContext
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.names import METADATA_TOPIC
from kraftproof.node.core.quotas.mutations import MutationQuotas
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS, config_right
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_configs_request,
    alter_configs_response,
    create_partitions_request,
    create_partitions_response,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
)
from kraftproof.node.wire.types import ZERO_UUID

DENIED: Final = "Authorization failed."
_DENIED_TOPIC: Final = ERRORS[ResourceKind.TOPIC]


class Parts(Struct, frozen=True, kw_only=True):
    """The allowed part of a request, and the answer to the whole request from its answer."""

    allowed: Message
    merge: Callable[[Any], Message]


def decide_metered(
    mutations: MutationQuotas,
    authorizer: Authorizer | None,
    event: Received,
    context: DecisionContext,
) -> Outcome:
    """Decide a request within the rights and the quotas of its principal (KIP-599)."""
    charge = mutations.charge_for(event, context.image.quotas, context.now.monotonic)
    if charge is None:
        return decide_authorized(authorizer, event, context)
    outcome = decide_authorized(authorizer, event, replace(context, charge=charge))
    if charge.throttle_ms == 0:
        return outcome
    reply: Any = outcome.reply
    return replace(outcome, reply=replace(reply, throttle_time_ms=charge.throttle_ms))


def decide_authorized(
    authorizer: Authorizer | None, event: Received, context: DecisionContext
) -> Outcome:
    """Decide a request within the rights of its principal; None allows everything."""
    message = event.message
    decide = DECISIONS[type(message)].decide
    if authorizer is None:
        return decide(context, message)
    if not authorizer.allows_whole(event):
        return Outcome(reply=refusal(message, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DENIED))
    split = _SPLITS.get(type(message))
    if split is None:
        return decide(context, message)
    parts = split(authorizer, event, context.image)
    outcome = decide(context, parts.allowed)
    return replace(outcome, reply=parts.merge(outcome.reply))


def _split_creation(authorizer: Authorizer, event: Received, _: MetadataImage) -> Parts:
    request = event.message
    assert isinstance(request, create_topics_request.CreateTopicsRequest), "the key says so"
    names = dict.fromkeys(topic.name for topic in request.topics)
    refused = {  # in order; the topics of a request may be many
        name: None
        for name in names
        if name != METADATA_TOPIC and not authorizer.allows_part(event, name)
    }
    left = tuple(topic for topic in request.topics if topic.name not in refused)
    kind, operation = ResourceKind.TOPIC, Operation.DESCRIBE_CONFIGS
    hidden = {
        name for name in names if not authorizer.allows(event, operation, kind, name, logs=False)
    }
    result = create_topics_response.CreatableTopicResult
    denied = [result(name=name, error_code=_DENIED_TOPIC, error_message=DENIED) for name in refused]

    def merge(answer: create_topics_response.CreateTopicsResponse) -> Message:
        shown = [
            _without_configs(topic) if topic.name in hidden else topic for topic in answer.topics
        ]
        return replace(answer, topics=(*shown, *denied))

    return Parts(allowed=replace(request, topics=left), merge=merge)


def _without_configs(
    topic: create_topics_response.CreatableTopicResult,
) -> create_topics_response.CreatableTopicResult:
    """Hide the configurations of a created topic from a client that may not describe them."""
    if topic.error_code != ErrorCode.NONE:
        return topic
    return replace(
        topic,
        topic_config_error_code=_DENIED_TOPIC,
        num_partitions=-1,
        replication_factor=-1,
        configs=None,
    )


def _split_deletion(authorizer: Authorizer, event: Received, image: MetadataImage) -> Parts:
    """Refuse topics by name whether they exist or not, so that nobody learns what exists."""
    request = event.message
    assert isinstance(request, delete_topics_request.DeleteTopicsRequest), "the key says so"
    result = delete_topics_response.DeletableTopicResult
    denied: list[delete_topics_response.DeletableTopicResult] = []
    states = []
    for state in request.topics:
        topic = image.topics.get(state.topic_id)
        name = topic.name if state.name is None and topic is not None else state.name
        if name is None or authorizer.allows_part(event, name):
            states.append(state)
            continue
        is_shown = state.name is not None or authorizer.allows(
            event, Operation.DESCRIBE, ResourceKind.TOPIC, name, logs=False
        )
        denied.append(
            result(
                name=name if is_shown else None,
                topic_id=state.topic_id,
                error_code=_DENIED_TOPIC,
                error_message=DENIED,
            )
        )
    names = []
    for name in request.topic_names:
        if authorizer.allows_part(event, name):
            names.append(name)
        else:
            denied.append(
                result(
                    name=name,
                    topic_id=ZERO_UUID,
                    error_code=_DENIED_TOPIC,
                    error_message=DENIED,
                )
            )
    allowed = replace(request, topics=tuple(states), topic_names=tuple(names))
    return Parts(
        allowed=allowed,
        merge=lambda answer: replace(answer, responses=(*answer.responses, *denied)),
    )


def _split_growth(authorizer: Authorizer, event: Received, _: MetadataImage) -> Parts:
    request = event.message
    assert isinstance(request, create_partitions_request.CreatePartitionsRequest), "the key says so"
    left: list[create_partitions_request.CreatePartitionsTopic] = []
    names: dict[str, None] = {}
    for topic in request.topics:
        if authorizer.allows_part(event, topic.name):
            left.append(topic)
        else:
            names[topic.name] = None
    result = create_partitions_response.CreatePartitionsTopicResult
    denied = [result(name=name, error_code=_DENIED_TOPIC, error_message=DENIED) for name in names]
    return Parts(
        allowed=replace(request, topics=tuple(left)),
        merge=lambda answer: replace(answer, results=(*answer.results, *denied)),
    )


def _split_configs(authorizer: Authorizer, event: Received, _: MetadataImage) -> Parts:
    request: Any = event.message
    response: Any = (
        alter_configs_response
        if isinstance(request, alter_configs_request.AlterConfigsRequest)
        else incremental_alter_configs_response
    )
    left, denied = [], {}
    for place, resource in enumerate(request.resources):
        right = config_right(resource.resource_type, resource.resource_name)
        if right is None or authorizer.allows_part(event, right[1], right[0]):
            left.append(resource)
            continue
        denied[place] = response.AlterConfigsResourceResponse(
            error_code=ERRORS[right[0]],
            error_message=DENIED,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )

    def merge(answer: Any) -> Message:  # noqa: ANN401 - either response, with the same fields
        decided = iter(answer.responses)
        places = range(len(request.resources))
        results = tuple(denied[place] if place in denied else next(decided) for place in places)
        merged: Message = replace(answer, responses=results)
        return merged

    return Parts(allowed=replace(request, resources=tuple(left)), merge=merge)


_SPLITS: Final[Mapping[type, Callable[[Authorizer, Received, MetadataImage], Parts]]] = {
    alter_configs_request.AlterConfigsRequest: _split_configs,
    create_partitions_request.CreatePartitionsRequest: _split_growth,
    create_topics_request.CreateTopicsRequest: _split_creation,
    delete_topics_request.DeleteTopicsRequest: _split_deletion,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: _split_configs,
}
