"""Frames, headers, uuids, principals, versions: the small parts of the wire."""

import random
import struct

import pytest

from kraftproof.node.wire import codec, headers, messages
from kraftproof.node.wire.codec import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.frames import FrameSplitter, frame
from kraftproof.node.wire.headers import RequestHeader
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    delete_topics_request,
    metadata_request,
    vote_request,
)
from kraftproof.node.wire.messages.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftproof.node.wire.messages.generated.broker_registration_response import (
    BrokerRegistrationResponse,
)
from kraftproof.node.wire.primitives import Reader, Writer
from kraftproof.node.wire.principal import Principal, decode_principal, encode_principal
from kraftproof.node.wire.types import ZERO_UUID, Uuid, format_uuid, parse_uuid


def test_frames_come_out_whole_however_the_bytes_arrive():
    payloads = [b"", b"a", b"x" * 300, b"last"]
    stream = b"".join(map(frame, payloads))
    for seed in range(50):
        chance = random.Random(seed)
        splitter, found, rest = FrameSplitter(), [], stream
        while rest:
            size = chance.randint(1, 60)
            found += splitter.feed(rest[:size])
            rest = rest[size:]
        assert found == payloads
        assert splitter.buffered == 0


@pytest.mark.parametrize("size", [-1, -(2**31), 11, 2**31 - 1])
def test_a_size_beyond_the_limit_is_refused_with_its_first_four_bytes(size):
    splitter = FrameSplitter(limit=10)
    with pytest.raises(WireError, match=f"a frame of {size} bytes; 0 to 10"):
        splitter.feed(struct.pack(">i", size))
    assert splitter.buffered == 0


@pytest.mark.parametrize("client_id", [None, "", "client"])
@pytest.mark.parametrize(("api_key", "version"), [(18, 0), (18, 3), (1, 11), (1, 12), (53, 0)])
def test_request_headers(api_key, version, client_id):
    header = RequestHeader(api_key=api_key, version=version, correlation_id=7, client_id=client_id)
    request_version, response_version = codec.header_versions(api_key, version)
    data = headers.encode_request_header(header, request_version) + b"body"
    assert headers.split_request(data) == (header, b"body")
    answer = headers.encode_response_header(7, response_version) + b"body"
    assert headers.split_response(answer, api_key, version) == (7, b"body")


def test_the_oldest_request_header_has_no_client_id():
    header = RequestHeader(api_key=7, version=0, correlation_id=1)
    data = headers.encode_request_header(header, 0)
    assert data == b"\0\7\0\0\0\0\0\1"
    assert headers.decode_request_header(Reader(data), 0) == header


def test_an_answer_to_api_versions_has_the_oldest_header_always():
    assert codec.header_versions(18, 0) == (1, 0)
    assert codec.header_versions(18, 4) == (2, 0)
    assert codec.header_versions(18, 99) == (2, 0)
    assert headers.encode_response_header(1, 0) == b"\0\0\0\1"


def test_an_unknown_api_or_version_is_a_clear_error():
    with pytest.raises(WireError, match="api key 99 is none of 0, 1, 2, 3"):
        codec.decode_request(99, 0, b"")
    with pytest.raises(WireError, match="VoteRequest has versions 0 to 2, not 3"):
        codec.decode_request(52, 3, b"")
    with pytest.raises(WireError, match="VoteRequest has versions 0 to 2, not -1"):
        codec.encode_request(vote_request.VoteRequest(), -1)


def test_bytes_after_a_request_are_ignored_and_after_a_response_refused():
    body = codec.encode_request(metadata_request.MetadataRequest(topics=None), 9)
    assert codec.decode_request(3, 9, body + b"\0\0\0") == metadata_request.MetadataRequest(
        topics=None
    )
    answer = codec.encode_response(codec.decode_response(17 + 1, 0, b"\0\0\0\0\0\0"), 0)
    with pytest.raises(WireError, match="1 bytes after ApiVersionsResponse"):
        codec.decode_response(18, 0, answer + b"\0")


def test_a_value_that_the_version_cannot_carry_is_an_error():
    request = vote_request.VoteRequest(
        topics=(vote_request.TopicData(partitions=(vote_request.PartitionData(pre_vote=True),)),)
    )
    with pytest.raises(WireError, match=r"PartitionData.pre_vote is set, and version 1"):
        codec.encode_request(request, 1)
    assert codec.decode_request(52, 2, codec.encode_request(request, 2)) == request
    heartbeat = broker_heartbeat_request.BrokerHeartbeatRequest(offline_log_dirs=(ZERO_UUID,))
    with pytest.raises(WireError, match="offline_log_dirs is set, and version 0"):
        codec.encode_request(heartbeat, 0)


def test_an_ignorable_value_is_dropped():
    request = vote_request.VoteRequest(voter_id=3)
    assert codec.decode_request(52, 0, codec.encode_request(request, 0)).voter_id == -1


def test_null_where_the_version_has_none_is_an_error():
    with pytest.raises(WireError, match=r"topics is null, and version 0"):
        codec.encode_request(metadata_request.MetadataRequest(topics=None), 0)


def test_a_number_that_does_not_fit_is_an_error():
    request = delete_topics_request.DeleteTopicsRequest(timeout_ms=2**31)
    with pytest.raises(WireError, match="DeleteTopicsRequest version 6"):
        codec.encode_request(request, 6)
    with pytest.raises(WireError, match="16 bytes, not 3"):
        codec.encode_request(
            delete_topics_request.DeleteTopicsRequest(
                topics=(delete_topics_request.DeleteTopicState(topic_id=Uuid(b"abc")),)
            ),
            6,
        )
    with pytest.raises(WireError, match="40000 bytes"):
        codec.encode_request(
            metadata_request.MetadataRequest(
                topics=(metadata_request.MetadataRequestTopic(name="x" * 40000),)
            ),
            8,
        )
    with pytest.raises(WireError, match="request header"):
        headers.encode_request_header(RequestHeader(api_key=1, version=1, correlation_id=2**40), 1)


def test_uuids_in_text():
    uuid = Uuid(bytes(range(240, 256)))
    assert format_uuid(uuid) == "8PHy8_T19vf4-fr7_P3-_w"
    assert parse_uuid(format_uuid(uuid)) == uuid
    assert format_uuid(ZERO_UUID) == "A" * 22


@pytest.mark.parametrize("text", ["", "abc", "A" * 21, "A" * 23, "A" * 21 + "+", "é" * 22])
def test_text_that_is_no_uuid(text):
    with pytest.raises(WireError, match="22 characters"):
        parse_uuid(text)


@pytest.mark.requirement("590-01")
@pytest.mark.requirement("590-17")
def test_principals():
    alice = Principal(type="User", name="alice")
    assert encode_principal(alice) == b"\0\0\x05User\x06alice\0\0"
    for principal in (alice, Principal(type="User", name="t", token_authenticated=True)):
        assert decode_principal(encode_principal(principal)) == principal
    with pytest.raises(WireError, match="not 9"):
        decode_principal(b"\0\x09")


def test_varints():
    for value in (0, 1, -1, 63, -64, 64, 2**31 - 1, -(2**31)):
        writer = Writer()
        writer.varint(value)
        assert Reader(bytes(writer)).varint() == value
    for value in (2**63 - 1, -(2**63)):
        writer = Writer()
        writer.varint(value)
        assert Reader(bytes(writer)).varlong() == value
    for data in (b"\xff" * 5, b"\xff\xff\xff\xff\x1f", b"\x80"):
        with pytest.raises(WireError, match="varint"):
            Reader(data).uvarint()
    with pytest.raises(WireError, match="varlong"):
        Reader(b"\xff" * 9 + b"\x7f").varlong()


def test_error_codes_are_released_kafkas():
    assert ErrorCode.INCONSISTENT_CLUSTER_ID == 104
    assert ErrorCode(75) is ErrorCode.UNKNOWN_LEADER_EPOCH
    assert len({code.value for code in ErrorCode}) == len(ErrorCode)


def test_every_generated_message_can_be_imported_by_its_short_name():
    for schema in (*codec.REQUESTS.values(), *codec.RESPONSES.values()):
        name = schema.message.__module__.rsplit(".", 1)[-1]
        assert name in messages.__all__
        assert getattr(messages, name).__name__ == schema.message.__module__
    with pytest.raises(AttributeError, match="no attribute vote_reqest"):
        messages.vote_reqest  # noqa: B018 - the access is what is tested


REGISTRATION = {
    0: {"broker_id", "cluster_id", "incarnation_id", "listeners", "features", "rack"},
    1: {"is_migrating_zk_broker"},
    2: {"log_dirs"},
    3: {"previous_broker_epoch"},
    4: set(),
}


@pytest.mark.requirement("631-41")
@pytest.mark.parametrize("version", REGISTRATION)
def test_broker_registration_is_api_62_and_each_version_carries_its_fields(version):
    """Version 4 widens what a feature may hold (KIP-584); it has no field of its own."""
    sent = BrokerRegistrationRequest(
        broker_id=7,
        cluster_id="a-cluster",
        incarnation_id=Uuid(bytes([1] * 16)),
        listeners=(Listener(name="CLIENT", host="b", port=9092),),
        features=(Feature(name="f", min_supported_version=1, max_supported_version=2),),
        rack="r1",
        is_migrating_zk_broker=version >= 1,
        log_dirs=(Uuid(bytes([2] * 16)),) if version >= 2 else (),
        previous_broker_epoch=9 if version >= 3 else -1,
    )
    assert BrokerRegistrationRequest.API_KEY == 62
    read = decode_request(62, version, encode_request(sent, version))
    assert read == sent
    carried = set().union(*(REGISTRATION[known] for known in range(version + 1)))
    changed = {name for name in sent.__struct_fields__ if getattr(read, name) != default(name)}
    assert changed == carried


def default(name):
    return getattr(BrokerRegistrationRequest(), name)


@pytest.mark.requirement("631-41")
@pytest.mark.parametrize("version", REGISTRATION)
def test_a_refused_registration_names_no_broker_epoch(version):
    answer = BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    read = decode_response(62, version, encode_response(answer, version))
    assert (read.throttle_time_ms, read.error_code, read.broker_epoch) == (0, 101, -1)
