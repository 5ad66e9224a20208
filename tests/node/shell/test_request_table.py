"""Answers with a throttle time mute the client's connection, unless the request was forwarded."""

import pytest

from kraftproof.node.core.effects import EndRequest, Reply
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.wire.messages import api_versions_request, create_topics_response
from kraftproof.node.wire.messages.generated.vote_response import VoteResponse
from kraftproof.node.wire.principal import ANONYMOUS

MS = 1_000_000


class Replies:
    """Notes the calls in their order."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def mute(self, client, duration_ns) -> None:
        self.calls.append(("mute", client, duration_ns))

    def reply(self, client, event, message) -> None:
        self.calls.append(("reply", client))

    def end(self, client, event, *, closes_connection) -> None:
        self.calls.append(("end", client))


def received(table: "RequestTable[str]", forwarded_by=None) -> int:
    event = table.receive(
        "client",
        message=api_versions_request.ApiVersionsRequest(),
        version=0,
        on_controller_listener=True,
        principal=ANONYMOUS,
        client_host="h",
        forwarded_by=forwarded_by,
        forwarder_host="",
        client_id="",
    )
    return event.request


@pytest.mark.parametrize(
    ("answer", "forwarded_by", "calls"),
    [
        (create_topics_response.CreateTopicsResponse(throttle_time_ms=7), None, ["mute", "reply"]),
        (create_topics_response.CreateTopicsResponse(throttle_time_ms=7), ANONYMOUS, ["reply"]),
        (create_topics_response.CreateTopicsResponse(), None, ["reply"]),
        (VoteResponse(), None, ["reply"]),
    ],
)
def test_an_answer_with_a_throttle_time_mutes_before_it_is_sent(
    answer, forwarded_by, calls
) -> None:
    replies = Replies()
    table = RequestTable(replies)
    table.reply(Reply(request=received(table, forwarded_by), message=answer))
    assert [call[0] for call in replies.calls] == calls
    assert all(call[2] == 7 * MS for call in replies.calls if call[0] == "mute")


def test_a_request_without_an_answer_mutes_by_its_effect() -> None:
    replies = Replies()
    table = RequestTable(replies)
    end = EndRequest(request=received(table), closes_connection=False, throttle_ms=3)
    table.end(end)
    assert replies.calls == [("mute", "client", 3 * MS), ("end", "client")]
