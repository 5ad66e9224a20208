"""Our messages equal the definitions in Kafka's jars, field by field and version by version.

The bytes of random messages, written straight from Kafka's JSON, are what our codec writes and
reads. Fields: names, order, types, nulls, tags, defaults, and which may be dropped.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from kraftproof.node.tools.record_json import UNKNOWN_TAGS
from kraftproof.node.wire import codec
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.generated.default_principal_data import DEFAULT_PRINCIPAL_DATA
from kraftproof.node.wire.primitives import Reader
from kraftproof.node.wire.records import control_records, metadata_records
from kraftproof.node.wire.schema import Schema
from tests.kafka.definitions import Definition, Field, encode, random_value, random_values
from tests.kafka.our_messages import part, snake, to_ours

pytestmark = pytest.mark.kafka
MESSAGES_A_VERSION = 25
RENAMED = {
    "LeaderChange": "LeaderChangeMessage",
    "SnapshotHeader": "SnapshotHeaderRecord",
    "SnapshotFooter": "SnapshotFooterRecord",
    "KRaftVersion": "KRaftVersionRecord",
    "Voters": "VotersRecord",
}
RECORDS = tuple(metadata_records.SCHEMAS.values())
OTHERS = (
    *codec.REQUESTS.values(),
    *codec.RESPONSES.values(),
    *control_records.SCHEMAS.values(),
    DEFAULT_PRINCIPAL_DATA,
)


def kafka_name(schema: Schema) -> str:
    name = schema.message.__name__
    return RENAMED.get(name, name)


def assert_same_fields(cls: Any, fields: tuple[Field, ...], known: range) -> None:
    """The class has exactly the fields that one of the versions in `known` has.

    Records have one field of ours besides, for tagged fields of newer versions.
    """
    present = [each for each in fields if set(each.versions) & set(known)]
    ours = {field.name for field in msgspec.structs.fields(cls)} - {UNKNOWN_TAGS}
    assert ours == {snake(field.name) for field in present}
    for field in present:
        if field.fields is not None:
            assert_same_fields(part(cls, field), field.fields, known)


@pytest.mark.requirement("631-16")
def test_every_record_type_of_kafka_is_one_of_ours_in_the_same_versions(
    definitions: dict[str, Definition],
) -> None:
    theirs = {
        each.api_key: (each.name, each.versions)
        for each in definitions.values()
        if each.name.endswith("Record") and each.api_key is not None
    }
    ours = {
        schema.key: (kafka_name(schema), range(schema.min_version, schema.max_version + 1))
        for schema in RECORDS
    }
    assert ours == theirs


@pytest.mark.requirement("631-16")
@pytest.mark.parametrize("schema", [*RECORDS, *OTHERS], ids=kafka_name)
def test_a_message_is_what_kafka_defines(
    schema: Schema, definitions: dict[str, Definition]
) -> None:
    definition = definitions[kafka_name(schema)]
    known = range(schema.min_version, schema.max_version + 1)
    assert set(known) <= set(definition.versions)
    if schema.key >= 0 and definition.api_key is not None:
        assert schema.key == definition.api_key
    assert_same_fields(schema.message, definition.fields, known)
    chance = Random(kafka_name(schema))
    for version in known:
        assert schema.is_flexible(version) == (version in definition.flexible)
        for _ in range(MESSAGES_A_VERSION):
            values = random_values(definition.fields, version, chance)
            data = encode(definition, version, values)
            message = to_ours(schema.message, definition.fields, values)
            assert schema.encode(message, version) == data
            assert schema.decode(Reader(data), version) == message


def lacking(schema: Schema, definition: Definition) -> Iterator[tuple[int, Field]]:
    """Yield each version with each field that other versions have only."""
    known = range(schema.min_version, schema.max_version + 1)
    for version in known:
        for field in definition.fields:
            if version not in field.versions and set(field.versions) & set(known):
                yield version, field


def test_a_version_refuses_what_it_lacks_unless_kafka_lets_it_be_dropped(
    definitions: dict[str, Definition],
) -> None:
    dropped = refused = 0
    for schema in [*RECORDS, *OTHERS]:
        definition = definitions[kafka_name(schema)]
        known = range(schema.min_version, schema.max_version + 1)
        chance = Random(kafka_name(schema))
        for version, field in lacking(schema, definition):
            values = random_values(definition.fields, version, chance)
            held_in = max(set(field.versions) & set(known))
            values[field.name] = set_value(field, held_in, chance)
            message = to_ours(schema.message, definition.fields, values)
            if field.ignorable:
                dropped += 1
                assert schema.encode(message, version) == encode(definition, version, values)
            else:
                refused += 1
                with pytest.raises(WireError, match=snake(field.name)):
                    schema.encode(message, version)
    assert dropped > 50
    assert refused > 50


def set_value(field: Field, version: int, chance: Random) -> Any:
    """A value that is not the default."""
    while field.is_default(value := random_value(field, version, chance)):
        pass
    return value
