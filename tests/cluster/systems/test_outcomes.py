"""What became of an operation: `fail` only for what was surely not done, `info` for what may be.

Against real sockets, through the client, the interpreter's process and the history's file.
"""

import asyncio
import json
from random import Random

import pytest

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.plugin import plugin
from kraftproof.cluster.protocol import Address, NodeInfo
from kraftproof.cluster.systems.reference.registration import RegistrationClient
from kraftproof.cluster.systems.reference.topics import TopicsClient
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages import create_topics_response, unregister_broker_response
from kraftproof.run.history import HistoryRecorder
from kraftproof.run.interpreter.culprits import Culprits
from kraftproof.run.interpreter.session import RecordedProcess

CREATE_KEY, CREATE_VERSION = 19, 7
SETTLE_S = 0.05
"""Both ends of a connection close in this time."""
UNREGISTER_KEY, UNREGISTER_VERSION = 64, 0


class OneNode:
    """As much of a cluster as a client needs: the address of one node."""

    nodes = (NodeInfo(node_id=1, name="one", roles=("controller", "broker")),)

    def __init__(self, port):
        self.port = port

    def address(self, node_id, port):
        return Address(host="127.0.0.1", port=self.port, peer_host="127.0.0.1")


class OneSession:
    """As much of a session as a recorded process needs."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.observe = None
        self.called = {}
        self.failure = None
        self.scope = LiveScope()
        self.is_reading = False
        self.processes = 0

    def next_process(self):
        self.processes += 1
        return self.processes - 1

    culprits = Culprits(system=plugin("system", "s", object), workload=plugin("w", "w", object))

    def is_invoked(self):
        return True

    def report(self, error):
        raise error


def history_of(tmp_path, handle, make, operations):
    """The events of some operations against a server; no `handle`: nobody listens."""

    async def whole():
        server = await asyncio.start_server(handle or refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        if handle is None:
            server.close()
            await server.wait_closed()
        recorder = HistoryRecorder(tmp_path / "history.jsonl", LiveScope().now)
        process = RecordedProcess(
            OneSession(recorder), make(OneNode(port)), plugin("client", "c", make)
        )
        for f, value in operations:
            await process.invoke(f, "1000", value)
        process.close()
        recorder.close()
        server.close()
        await asyncio.sleep(SETTLE_S)

    asyncio.run(whole())
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


async def refuse(reader, writer):
    raise AssertionError("nobody connects to what does not listen")


async def read_and_hang_up(reader, writer):
    size = int.from_bytes(await reader.readexactly(4), "big")
    await reader.readexactly(size)
    writer.close()


def answer_with(key, version, message):
    async def handle(reader, writer):
        while True:
            try:
                size = int.from_bytes(await reader.readexactly(4), "big")
            except asyncio.IncompleteReadError:
                writer.close()
                return
            request = await reader.readexactly(size)
            correlation = int.from_bytes(request[4:8], "big")
            _, header_version = codec.header_versions(key, version)
            head = headers.encode_response_header(correlation, header_version)
            writer.write(frame(head, codec.encode_response(message, version)))

    return handle


def topics(cluster):
    return TopicsClient(cluster, Random(1))


def registration(cluster):
    return RegistrationClient(cluster, "AAAAAAAAAAAAAAAAAAAAAA", Random(1))


def outcomes(events):
    return [(event["f"], event["type"]) for event in events if event["type"] != "invoke"]


def test_what_could_not_be_sent_has_failed(tmp_path):
    operations = [("create", None), ("delete", {"by": "name"}), ("lookup", None)]
    events = history_of(tmp_path, None, topics, operations)
    assert outcomes(events) == [("create", "fail"), ("delete", "fail"), ("lookup", "fail")]
    assert "ConnectionRefusedError" in events[1]["error"]


def test_what_was_sent_and_not_answered_may_have_been_done_unless_it_only_reads(tmp_path):
    operations = [("create", None), ("delete", {"by": "name"}), ("lookup", None)]
    events = history_of(tmp_path, read_and_hang_up, topics, operations)
    assert outcomes(events) == [("create", "info"), ("delete", "info"), ("lookup", "fail")]


def test_a_lost_connection_ends_the_process(tmp_path):
    events = history_of(tmp_path, read_and_hang_up, topics, [("create", None)] * 3)
    assert [event["process"] for event in events] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (ErrorCode.NOT_CONTROLLER, "fail"),
        (ErrorCode.INVALID_REPLICATION_FACTOR, "fail"),
        (ErrorCode.REQUEST_TIMED_OUT, "info"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "info"),
        (ErrorCode.TOPIC_ALREADY_EXISTS, "ok"),
    ],
)
def test_the_outcome_of_an_error_of_create(tmp_path, code, outcome):
    result = create_topics_response.CreatableTopicResult(name="1000", error_code=code)
    answer = create_topics_response.CreateTopicsResponse(topics=(result,))
    handle = answer_with(CREATE_KEY, CREATE_VERSION, answer)
    events = history_of(tmp_path, handle, topics, [("create", None)])
    assert outcomes(events) == [("create", outcome)]


def test_a_connection_that_the_other_side_has_closed_is_not_written_to(tmp_path):
    async def answer_then_close(reader, writer):
        size = int.from_bytes(await reader.readexactly(4), "big")
        request = await reader.readexactly(size)
        _, header_version = codec.header_versions(UNREGISTER_KEY, UNREGISTER_VERSION)
        head = headers.encode_response_header(int.from_bytes(request[4:8], "big"), header_version)
        answer = unregister_broker_response.UnregisterBrokerResponse(error_code=ErrorCode.NONE)
        writer.write(frame(head, codec.encode_response(answer, UNREGISTER_VERSION)))
        writer.close()

    async def two():
        server = await asyncio.start_server(answer_then_close, "127.0.0.1", 0)
        client = registration(OneNode(server.sockets[0].getsockname()[1]))
        await client.open()
        first = await client.invoke("unregister", "1000", None)
        await asyncio.sleep(0.05)
        second = await client.invoke("unregister", "1000", None)
        client.close()
        server.close()
        await asyncio.sleep(SETTLE_S)
        return first.outcome.value, second.outcome.value

    assert asyncio.run(two()) == ("ok", "fail")
