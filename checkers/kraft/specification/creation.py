"""Judge CreateTopics: the records of the batch, and the answer (KIP-631, KIP-4)."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kraftproof.checkers.kraft.specification.causes import Causes, causes_of_creation
from kraftproof.checkers.kraft.specification.errors import Code, code_name, code_names
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.ids import Id, is_reserved, show
from kraftproof.checkers.kraft.specification.image import TOPIC_RESOURCE, Image
from kraftproof.checkers.kraft.specification.placement import (
    asked_factor,
    asked_partitions,
    wrong_partitions,
)
from kraftproof.checkers.kraft.specification.rows import (
    ConfigRecord,
    CreatableTopic,
    CreatedTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    PartitionRecord,
    Row,
    TopicRecord,
)

OF_TOPIC = 1
"""The source of a configuration that was set for the topic (DYNAMIC_TOPIC_CONFIG)."""


class Written(Struct, kw_only=True):
    """The records of a topic in a batch."""

    topic_id: Id
    partitions: list[PartitionRecord] = field(default_factory=list)
    settings: dict[str, str | None] = field(default_factory=dict)


def wrong_creations(
    image: Image, facts: Facts, request: CreateTopicsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of a CreateTopics request, or None."""
    if request.validate_only:
        return "a request that only validates has written records" if written else None
    made: dict[str, Written] = {}
    names: dict[Id, str] = {}
    for record in written:
        wrong = _collect(record, made, names)
        if wrong is not None:
            return wrong
    asked = {topic.name: topic for topic in request.topics}
    causes = causes_of_creation(image, facts, request)
    for name, topic in made.items():
        if name not in asked:
            return f"topic {name} was created, but not asked for"
        if causes[name].required:
            return f"topic {name} was created in spite of {code_names(causes[name].required)}"
        wrong = _wrong_topic(image, facts, asked[name], topic)
        if wrong is not None:
            return f"topic {name} {wrong}"
    missing = [name for name in asked if name not in made and not causes[name].all]
    return f"topic {missing[0]} was not created, without a cause" if missing else None


def _collect(record: Row, made: dict[str, Written], names: dict[Id, str]) -> str | None:
    match record:
        case TopicRecord():
            if record.name in made or record.topic_id in names:
                return f"topic {record.name} or the id {show(record.topic_id)} was created twice"
            made[record.name] = Written(topic_id=record.topic_id)
            names[record.topic_id] = record.name
        case PartitionRecord():
            if record.topic_id not in names:
                return f"a partition of {show(record.topic_id)} was created without its topic"
            made[names[record.topic_id]].partitions.append(record)
        case ConfigRecord():
            if record.resource_type != TOPIC_RESOURCE or record.resource_name not in made:
                return f"a configuration of {record.resource_name} was not asked for"
            made[record.resource_name].settings[record.name] = record.value
        case _:
            return f"a {type(record).__name__} was not asked for"
    return None


def _wrong_topic(image: Image, facts: Facts, topic: CreatableTopic, made: Written) -> str | None:
    if made.topic_id in image.topics:
        return f"has the id of another topic, {show(made.topic_id)}"
    if is_reserved(made.topic_id):
        return f"has the reserved id {show(made.topic_id)}"
    settings = {setting.name: setting.value for setting in topic.configs}
    if made.settings != settings:
        return f"has the configurations {made.settings}, but {settings} were asked for"
    return wrong_partitions(image, topic, facts, made.partitions)


def wrong_creation_answer(
    image: Image,
    facts: Facts,
    request: CreateTopicsRequest,
    written: Sequence[Row],
    answer: CreateTopicsResponse,
) -> str | None:
    """Return why an answer to CreateTopics is wrong, given the records of the request, or None."""
    asked = {topic.name: topic for topic in request.topics}
    answered = [result.name for result in answer.topics]
    if sorted(answered) != sorted(asked):
        return f"the answer is about the topics {sorted(answered)}, not about {sorted(asked)}"
    causes = causes_of_creation(image, facts, request)
    made = {record.name: record for record in written if isinstance(record, TopicRecord)}
    for result in answer.topics:
        wrong = _wrong_result(asked[result.name], causes[result.name], result, facts)
        if wrong is None and not request.validate_only:
            wrong = _wrong_id(made, result)
        if wrong is not None:
            return f"topic {result.name} {wrong}"
    return None


def _wrong_result(
    topic: CreatableTopic, causes: Causes, result: CreatedTopic, facts: Facts
) -> str | None:
    code = result.error_code
    if code != Code.NONE:
        if code in causes.all:
            return None
        expected = f"{code_names(causes.all)} applies" if causes.all else "nothing is wrong"
        return f"is refused with {code_name(code)}, but {expected}"
    if causes.required:
        return f"is accepted in spite of {code_names(causes.required)}"
    expected_numbers = (asked_partitions(topic, facts), asked_factor(topic, facts))
    numbers = (result.num_partitions, result.replication_factor)
    if numbers != expected_numbers:
        return f"is answered with {numbers} partitions and replicas, not {expected_numbers}"
    return _wrong_settings(topic, result)


def _wrong_settings(topic: CreatableTopic, result: CreatedTopic) -> str | None:
    asked = {setting.name: setting.value for setting in topic.configs}
    shown = {entry.name: entry for entry in result.configs or ()}
    for name, value in asked.items():
        if name not in shown or shown[name].value != value:
            return f"is answered without the configuration {name}={value}"
    of_topic = {name for name, entry in shown.items() if entry.config_source == OF_TOPIC}
    if of_topic != set(asked):
        return f"is answered with the topic's own configurations {sorted(of_topic)}"
    return None


def _wrong_id(made: Mapping[str, TopicRecord], result: CreatedTopic) -> str | None:
    record = made.get(result.name)
    if result.error_code != Code.NONE:
        refused = f"is refused with {code_name(result.error_code)}, but was created"
        return None if record is None else refused
    if record is None:
        return "is acknowledged, but was not created"
    if record.topic_id != result.topic_id:
        return f"has the id {show(record.topic_id)}, but {show(result.topic_id)} is answered"
    return None
