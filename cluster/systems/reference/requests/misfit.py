"""Check that an answer speaks of all parts of its request, and of nothing else.

A topic that is named twice has one result, or a result for each time if the whole request is
refused.
"""

from collections import Counter
from collections.abc import Hashable, Iterable

from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    describe_configs_request,
    describe_configs_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.types import ZERO_UUID


def misfit(request: Message, answer: Message) -> str | None:
    """Return the problem of an answer that lacks a part, repeats one or adds one; else None."""
    match request, answer:
        case (
            create_topics_request.CreateTopicsRequest(topics=asked),
            create_topics_response.CreateTopicsResponse(topics=results),
        ):
            return _each_answered([topic.name for topic in asked], [one.name for one in results])
        case (
            delete_topics_request.DeleteTopicsRequest(),
            delete_topics_response.DeleteTopicsResponse(responses=results),
        ):
            return _deleted(request, [(one.name, one.topic_id) for one in results])
        case (
            metadata_request.MetadataRequest(topics=asked),
            metadata_response.MetadataResponse(topics=shown),
        ) if asked and not any(one.name is None or one.topic_id != ZERO_UUID for one in asked):
            return _each_answered([one.name for one in asked], [one.name for one in shown])
        case (
            describe_configs_request.DescribeConfigsRequest(resources=asked),
            describe_configs_response.DescribeConfigsResponse(results=results),
        ):
            answered = [(one.resource_type, one.resource_name) for one in results]
            if answered != [(one.resource_type, one.resource_name) for one in asked]:
                return "the results are not those of the resources, in their order"
        case _:
            pass
    return None


def _each_answered(asked: Iterable[Hashable], answered: Iterable[Hashable]) -> str | None:
    wanted, counted = Counter(asked), Counter(answered)
    for name, times in wanted.items():
        if not 1 <= counted[name] <= times:
            return f"{counted[name]} results for {str(name)[:40]!r}, named {times} times"
    if len(counted) != len(wanted):
        return "a result for a topic that was not asked for"
    return None


def _deleted(
    request: delete_topics_request.DeleteTopicsRequest, answered: list[tuple[str | None, bytes]]
) -> str | None:
    """Return the problem of an answer to DeleteTopics.

    A topic that is named by its name and by its id has one result, so that there may be fewer
    results than distinct names and ids.
    """
    named = set(request.topic_names)
    named |= {state.name for state in request.topics if state.name is not None}
    missing = named - {name for name, _ in answered}
    if missing:
        return f"no result for {str(min(missing))[:40]!r}"
    most = len(request.topics) + len(request.topic_names)
    if len(answered) > most:
        return f"{len(answered)} results for {most} topics"
    return None
