"""Every (API, version): our bytes are kio's, and kio's bytes decode to our message."""

import importlib
import io
import random

import pytest
from kio.serial import entity_writer

from kraftproof.node.wire import codec
from kraftproof.node.wire.schema import Schema
from scripts.generate_wire import APIS, DATA
from tests.node.wire.kio_messages import kio_class, random_kio, to_ours

MESSAGES = [(api, part, f"{api}_{part}") for api in APIS for part in ("request", "response")]
SAMPLES = 12
WHOLE_SAMPLES = 2
ROWS = {
    "vote_request": "595-17",
    "vote_response": "595-18",
    "begin_quorum_epoch_request": "595-32",
    "begin_quorum_epoch_response": "595-32",
    "end_quorum_epoch_request": "595-37",
    "end_quorum_epoch_response": "595-37",
    "fetch_request": "595-45",
    "fetch_response": "595-46",
    "describe_quorum_request": "595-63",
    "describe_quorum_response": "595-63",
    "alter_partition_request": "497-01",
    "alter_partition_response": "497-02",
    "envelope_request": "590-01",
    "broker_registration_request": "631-41",
    "broker_registration_response": "631-41",
    "broker_heartbeat_request": "631-46",
    "broker_heartbeat_response": "631-46",
    "unregister_broker_request": "631-62",
    "unregister_broker_response": "631-62",
}


def generated(module: str):
    return importlib.import_module(f"kraftproof.node.wire.messages.generated.{module}")


def schema_of(module: str) -> Schema:
    return getattr(generated(module), module.upper())


def cases():
    data = [(api, "data", name) for api, name in DATA.items()]
    for api, part, module in [*MESSAGES, *data]:
        schema = schema_of(module)
        marks = [pytest.mark.requirement(ROWS[module])] if module in ROWS else []
        for version in range(schema.min_version, schema.max_version + 1):
            name = f"{module}-v{version}"
            yield pytest.param(api, part, module, version, marks=marks, id=name)


@pytest.mark.parametrize(("api", "part", "module", "version"), list(cases()))
def test_bytes_are_those_of_kio(api, part, module, version):
    chance = random.Random(f"{module} {version}")
    cls = kio_class(api, version, part)
    schema = schema_of(module)
    write = entity_writer(cls)
    for sample in range(SAMPLES):
        theirs = random_kio(cls, chance, is_whole=sample < WHOLE_SAMPLES)
        buffer = io.BytesIO()
        write(buffer, theirs)
        ours = to_ours(generated(module), schema.message, theirs)
        assert schema.encode(ours, version) == buffer.getvalue()
        if part == "request":
            assert codec.decode_request(schema.key, version, buffer.getvalue()) == ours
        elif part == "response":
            assert codec.decode_response(schema.key, version, buffer.getvalue()) == ours


@pytest.mark.requirement("595-17")
@pytest.mark.requirement("595-32")
@pytest.mark.requirement("595-37")
def test_flexible_versions_and_headers_are_those_of_kio():
    for api in APIS:
        for part in ("request", "response"):
            schema = schema_of(f"{api}_{part}")
            for version in range(schema.min_version, schema.max_version + 1):
                cls = kio_class(api, version, part)
                header = codec.header_versions(schema.key, version)[part == "response"]
                assert header == int(cls.__header_schema__.__version__)
                assert schema.is_flexible(version) == cls.__flexible__
                assert schema.key == int(cls.__api_key__)
    assert list(codec.REQUESTS) == list(codec.RESPONSES)
    assert sorted(codec.REQUESTS) == list(codec.SUPPORTED)
