"""The judge of a connection finds each kind of wrong answer, and accepts right answers."""

import struct

import pytest

from kraftproof.cluster.systems.reference.requests.answers import ConnectionJudge
from kraftproof.cluster.systems.reference.requests.case import Expects, Send
from kraftproof.cluster.systems.reference.requests.frames import framed
from kraftproof.node.server.connection import MAX_IN_FLIGHT
from kraftproof.node.wire.codec import encode_request, encode_response, header_versions
from kraftproof.node.wire.headers import (
    RequestHeader,
    encode_request_header,
    encode_response_header,
)
from kraftproof.node.wire.messages import (
    api_versions_response,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    describe_configs_request,
    describe_configs_response,
    metadata_request,
    metadata_response,
)

SECOND_NS = 1_000_000_000
SLACK_MS = 1_000
VERSION = 7


def judge() -> ConnectionJudge:
    return ConnectionJudge(lambda _: None, SLACK_MS)


def create(*names: str):
    topics = tuple(create_topics_request.CreatableTopic(name=name) for name in names)
    return create_topics_request.CreateTopicsRequest(topics=topics)


def created(*names: str):
    topics = tuple(create_topics_response.CreatableTopicResult(name=name) for name in names)
    return create_topics_response.CreateTopicsResponse(topics=topics)


def send(message, correlation_id: int, version: int = VERSION, **fields) -> Send:
    header = RequestHeader(api_key=message.API_KEY, version=version, correlation_id=correlation_id)
    head = encode_request_header(header, header_versions(message.API_KEY, version)[0])
    frame = framed(head + encode_request(message, version))
    told = {"expects": Expects.ANSWER, "about": f"request {correlation_id}", "within_ms": 0}
    return Send(connection=0, frame=frame, **{**told, **fields})


def answer(message, correlation_id: int, version: int = VERSION) -> bytes:
    _, header_version = header_versions(message.API_KEY, version)
    return framed(
        encode_response_header(correlation_id, header_version) + encode_response(message, version)
    )


def judged(sends: list[Send], received: bytes) -> str | None:
    one = judge()
    for each in sends:
        one.sent(each, 0)
    one.received(received, 0)
    return one.problem


TWO = [send(create("a"), 5), send(create("b"), -6)]
FIRST, SECOND = answer(created("a"), 5), answer(created("b"), -6)


def test_answers_in_order_are_right() -> None:
    one = judge()
    for each in TWO:
        one.sent(each, 0)
    for byte in FIRST + SECOND:
        assert not one.is_done
        one.received(bytes([byte]), 0)
    assert one.is_done
    assert one.problem is None


@pytest.mark.parametrize(
    ("received", "problem"),
    [
        (SECOND + FIRST, "correlation id -6, the request 5"),
        (FIRST + answer(created("b"), 6), "correlation id 6, the request -6"),
        (FIRST + FIRST + SECOND, "correlation id 5, the request -6"),
        (FIRST + SECOND + SECOND, "nobody asked for"),
        (FIRST + framed(SECOND[4:] + b"x"), "bytes after CreateTopicsResponse"),
        (FIRST + framed(SECOND[4:-5]), "the answer is no 19 v7"),
        (framed(b"\0\0"), "has no correlation id"),
        (struct.pack(">i", -1), "an answer of -1 bytes"),
        (struct.pack(">i", 1 << 30), "an answer of 1073741824 bytes"),
        (FIRST + answer(created("c"), -6), "0 results for 'b'"),
        (FIRST + answer(created("b", "b"), -6), "2 results for 'b', named 1 times"),
        (FIRST + answer(created("b", "c"), -6), "not asked for"),
    ],
)
def test_a_wrong_answer_is_found(received: bytes, problem: str) -> None:
    assert problem in (judged(TWO, received) or "")


def test_an_answer_is_due_when_its_time_and_the_slack_are_over() -> None:
    one = judge()
    one.sent(send(create("a"), 1, within_ms=2_000), 10 * SECOND_NS)
    one.overdue(13 * SECOND_NS)
    assert one.problem is None
    one.overdue(13 * SECOND_NS + 1)
    assert one.problem == "no answer within 3000 ms: request 1"


def test_a_request_without_bound_is_never_overdue() -> None:
    one = judge()
    one.sent(send(create("a"), 1, within_ms=None), 0)
    one.overdue(1 << 62)
    assert one.problem is None


def test_a_node_may_hang_up_on_what_is_no_request_only() -> None:
    hung_up = judge()
    hung_up.sent(TWO[0], 0)
    hung_up.ended(by_node=True)
    assert "hung up on well-formed requests: request 5" in (hung_up.problem or "")
    for expects in (Expects.EITHER, Expects.NOTHING):
        one = judge()
        one.sent(TWO[0], 0)
        one.sent(send(create("x"), 2, expects=expects), 0)
        one.ended(by_node=True)
        assert one.problem is None
        assert one.is_done


def test_the_end_of_a_process_excuses_every_answer() -> None:
    one = judge()
    one.sent(TWO[0], 0)
    one.ended(by_node=False)
    assert (one.problem, one.is_done) == (None, True)


def test_an_unknown_version_of_api_versions_is_answered_with_error_35() -> None:
    frame = framed(struct.pack(">hhi", 18, 99, 7))
    asked = Send(connection=0, frame=frame, expects=Expects.ANSWER, about="v99", within_ms=0)
    refused = api_versions_response.ApiVersionsResponse(error_code=35)
    accepted = api_versions_response.ApiVersionsResponse()
    assert judged([asked], answer(refused, 7, 0)) is None
    assert "error 0, where 35" in (judged([asked], answer(accepted, 7, 0)) or "")


def test_a_deletion_has_a_result_for_each_name() -> None:
    request = delete_topics_request.DeleteTopicsRequest(topic_names=("a", "b"))

    def deleted(*names: str):
        results = tuple(delete_topics_response.DeletableTopicResult(name=name) for name in names)
        return answer(delete_topics_response.DeleteTopicsResponse(responses=results), 1, 5)

    asked = [send(request, 1, 5)]
    assert judged(asked, deleted("b", "a")) is None
    assert "no result for 'b'" in (judged(asked, deleted("a", "a")) or "")
    assert "3 results for 2 topics" in (judged(asked, deleted("a", "b", "c")) or "")


def test_metadata_shows_each_topic_once() -> None:
    topics = tuple(metadata_request.MetadataRequestTopic(name=name) for name in ("a", "b"))
    asked = [send(metadata_request.MetadataRequest(topics=topics), 1, 12)]

    def shown(*names: str) -> bytes:
        found = tuple(metadata_response.MetadataResponseTopic(name=name) for name in names)
        return answer(metadata_response.MetadataResponse(topics=found), 1, 12)

    assert judged(asked, shown("b", "a")) is None
    assert "0 results for 'b'" in (judged(asked, shown("a")) or "")


def test_configurations_come_in_the_order_of_the_request() -> None:
    resources = tuple(
        describe_configs_request.DescribeConfigsResource(resource_type=2, resource_name=name)
        for name in ("a", "b")
    )
    asked = [send(describe_configs_request.DescribeConfigsRequest(resources=resources), 1, 4)]

    def described(*names: str) -> bytes:
        found = tuple(
            describe_configs_response.DescribeConfigsResult(resource_type=2, resource_name=name)
            for name in names
        )
        return answer(describe_configs_response.DescribeConfigsResponse(results=found), 1, 4)

    assert judged(asked, described("a", "b")) is None
    assert "in their order" in (judged(asked, described("b", "a")) or "")


def test_a_request_behind_a_full_window_is_due_after_it_was_taken() -> None:
    """Seed 200712: of 250 requests at once, a node takes 100, and others with each answer."""
    one = judge()
    for number in range(MAX_IN_FLIGHT + 1):
        one.sent(send(create("a"), number, within_ms=2_000), 0)
    one.received(answer(created("a"), 0), 4 * SECOND_NS)
    for number in range(1, MAX_IN_FLIGHT):
        one.received(answer(created("a"), number), 4 * SECOND_NS)
    one.overdue(7 * SECOND_NS)
    assert one.problem is None
    one.overdue(10 * SECOND_NS)
    assert "no answer within" in (one.problem or "")
