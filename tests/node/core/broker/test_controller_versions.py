"""A broker advertises a forwarded request only in versions that the controller reads (KIP-590)."""

from typing import TYPE_CHECKING

import pytest

from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.core.effects import Effect, Send
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
)
from kraftproof.node.wire.messages.generated.create_partitions_request import (
    CreatePartitionsRequest,
)
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest
from kraftproof.node.wire.messages.generated.delete_topics_request import DeleteTopicsRequest
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from tests.node.core.broker.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVED = served_versions(on_controller_listener=False)
OTHER = NodeId(102)
NEWER = ApiVersionsResponse(
    api_keys=(
        ApiVersion(api_key=CreateTopicsRequest.API_KEY, min_version=6, max_version=99),
        ApiVersion(api_key=DeleteTopicsRequest.API_KEY, min_version=98, max_version=99),
        ApiVersion(api_key=FetchRequest.API_KEY, min_version=17, max_version=17),
    )
)


def asked(effects: list[Effect]) -> Send:
    (send,) = [
        effect
        for effect in effects
        if isinstance(effect, Send) and isinstance(effect.message, ApiVersionsRequest)
    ]
    return send


def advertised(bench: Bench) -> "Mapping[int, tuple[int, int]]":
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    answer = bench.ask(request, version=3)
    assert isinstance(answer, ApiVersionsResponse)
    return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}


@pytest.mark.requirement("590-09")
def test_forwarded_requests_are_cut_to_the_versions_of_the_controller() -> None:
    bench = Bench(asks_controller_versions=True)
    question = asked(bench.advance())
    assert question.destination == bench.raft.leader
    assert advertised(bench) == SERVED
    bench.answer(question, NEWER)
    found = advertised(bench)
    assert found[CreateTopicsRequest.API_KEY] == (6, SERVED[CreateTopicsRequest.API_KEY][1])
    assert found[FetchRequest.API_KEY] == SERVED[FetchRequest.API_KEY], "not forwarded"
    lacking = {DeleteTopicsRequest.API_KEY, CreatePartitionsRequest.API_KEY}
    assert not lacking & found.keys()


def test_a_question_is_repeated_until_its_answer() -> None:
    bench = Bench(asks_controller_versions=True)
    question = asked(bench.advance())
    for answer in (None, ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)):
        bench.answer(question, answer)
        for _ in range(100):
            sent = [each for each in bench.due() if isinstance(each, Send)]
            repeated = [each for each in sent if isinstance(each.message, ApiVersionsRequest)]
            if repeated:
                break
        (question,) = repeated
    assert advertised(bench) == SERVED


def test_a_new_controller_is_asked_and_an_old_answer_ignored() -> None:
    bench = Bench(asks_controller_versions=True)
    old = asked(bench.advance())
    bench.raft.leader, bench.raft.epoch = OTHER, Epoch(2)
    new = asked(bench.advance())
    assert new.destination == OTHER
    bench.answer(old, NEWER)
    assert advertised(bench) == SERVED
    bench.answer(new, NEWER)
    assert advertised(bench) != SERVED


def test_a_controller_in_the_same_process_is_not_asked() -> None:
    bench = Bench(asks_controller_versions=True)
    bench.raft.leader = NodeId(1)
    sent = [each for each in bench.advance() if isinstance(each, Send)]
    assert not [each for each in sent if isinstance(each.message, ApiVersionsRequest)]
    assert advertised(bench) == SERVED
