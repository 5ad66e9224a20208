"""kraft-metadata-quorum: its text, its usage, and what it says when there is no answer."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftproof.node.tools import metadata_quorum
from kraftproof.node.tools.quorum_text import Quorum, replication_lines, status_lines
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated import describe_cluster_response
from kraftproof.node.wire.messages.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
)
from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import parse_uuid

CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"
ZERO = "AAAAAAAAAAAAAAAAAAAAAA"
DIRECTORY = "IS6yXIreTWOkot2qpXXSMA"
NO_LEADER = 6


def replica(
    replica_id: int, end: int, time_ms: int = -1, fetched_ms: int | None = None
) -> ReplicaState:
    return ReplicaState(
        replica_id=replica_id,
        log_end_offset=end,
        last_fetch_timestamp=time_ms if fetched_ms is None else fetched_ms,
        last_caught_up_timestamp=time_ms,
    )


VOTER_3 = ReplicaState(replica_id=3, log_end_offset=-1, replica_directory_id=parse_uuid(DIRECTORY))
PARTITION = PartitionData(
    leader_id=2,
    leader_epoch=7,
    high_watermark=110,
    current_voters=(replica(1, 110, 1900, fetched_ms=1950), replica(2, 120, 2000), VOTER_3),
    observers=(replica(14, 120, 1999),),
)
NODES = tuple(
    Node(node_id=number, listeners=(Listener(name="CONTROLLER", host="h", port=9090 + number),))
    for number in (1, 2)
)
QUORUM = Quorum(cluster_id=CLUSTER_ID, partition=PARTITION, nodes=NODES)


@pytest.mark.requirement("595-67")
def test_status_has_kafkas_lines_and_the_slowest_voters_lag() -> None:
    assert status_lines(QUORUM) == [
        "ClusterId:              XcZZOzUqS4yHOjhMQB6JLQ",
        "LeaderId:               2",
        "LeaderEpoch:            7",
        "HighWatermark:          110",
        "MaxFollowerLag:         121",
        "MaxFollowerLagTimeMs:   -1",
        'CurrentVoters:          [{"id": 1, "endpoints": ["CONTROLLER://h:9091"]}, '
        '{"id": 2, "endpoints": ["CONTROLLER://h:9092"]}, '
        f'{{"id": 3, "directoryId": "{DIRECTORY}"}}]',
        'CurrentObservers:       [{"id": 14}]',
    ]


@pytest.mark.parametrize(
    ("voters", "lag", "lag_ms"),
    [
        ((replica(1, 110, 1900), replica(2, 120, 2000)), 10, 100),
        ((replica(1, 120, 1900), replica(2, 120, 2000)), 0, 100),
        ((replica(2, 120, 2000), replica(3, 120, 1900)), 0, 0),
    ],
)
def test_lag_in_time_is_that_of_the_first_of_the_slowest(
    voters: tuple[ReplicaState, ...], lag: int, lag_ms: int
) -> None:
    partition = PartitionData(leader_id=2, current_voters=voters)
    lines = status_lines(Quorum(cluster_id=CLUSTER_ID, partition=partition, nodes=()))
    assert lines[4:6] == [f"MaxFollowerLag:         {lag}", f"MaxFollowerLagTimeMs:   {lag_ms}"]


@pytest.mark.requirement("595-68")
def test_the_table_begins_with_the_leader_and_pads_as_kafkas() -> None:
    head = "NodeId\tDirectoryId           \tLogEndOffset\tLag\tLastFetchTimestamp\t"
    assert replication_lines(QUORUM, None) == [
        f"{head}LastCaughtUpTimestamp\tStatus  \t",
        f"2     \t{ZERO}\t120         \t0  \t2000              \t2000                 \tLeader  \t",
        f"1     \t{ZERO}\t110         \t10 \t1950              \t1900                 \tFollower\t",
        f"3     \t{DIRECTORY}\t-1          \t121\t-1                \t-1                   "
        "\tFollower\t",
        f"14    \t{ZERO}\t120         \t0  \t1999              \t1999                 \tObserver\t",
    ]
    ages = [line.split("\t")[4].strip() for line in replication_lines(QUORUM, 2005)]
    assert ages == ["LastFetchTimestamp", "5 ms ago", "55 ms ago", "-1", "6 ms ago"]


@pytest.mark.requirement("595-69")
def test_lag_is_the_leaders_end_minus_the_replicas() -> None:
    voters = (replica(1, 234134, 900), replica(2, 234130, 800), replica(3, 234100, 700))
    partition = PartitionData(leader_id=1, high_watermark=234130, current_voters=voters)
    quorum = Quorum(cluster_id=CLUSTER_ID, partition=partition, nodes=())
    lags = [line.split("\t")[3].strip() for line in replication_lines(quorum, None)]
    assert lags == ["Lag", "0", "4", "34"]
    assert status_lines(quorum)[3:5] == [
        "HighWatermark:          234130",
        "MaxFollowerLag:         34",
    ]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line about a command that fails with status 1."""
    try:
        status = metadata_quorum.run([*arguments])
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert (status, printed.out) == (1, "")
    return line


@pytest.mark.requirement("595-66")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("describe --status", "--bootstrap-server and --bootstrap-controller"),
        ("--bootstrap-server a:1 --bootstrap-controller b:1 describe --status", "one of"),
        ("--bootstrap-server a:1 describe --bootstrap-controller b:1 --status", "one of"),
        ("--bootstrap-server a:1 describe", "--status and --replication"),
        ("--bootstrap-server a:1 describe --status --replication", "--status and --replication"),
        ("--bootstrap-server a:1 describe --status --human-readable", "--human-readable"),
        ("--bootstrap-server a:1 --status", "COMMAND"),
        ("--bootstrap-server a:1,b describe --status", "'b' is no address"),
        ("describe --replication --bootstrap-controller a:70000", "'a:70000' is no address"),
        ("--bootstrap-server a:1 --command-config nowhere describe --status", "nowhere: No such"),
    ],
)
def test_misuse_is_one_line_and_status_1(
    arguments: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert named in complaint(capsys, *arguments.split())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("security.protocol=TLS", "security.protocol=TLS: is not valid, expected one of PLAINTEXT"),
        ("default.api.timeout.ms=soon", "default.api.timeout.ms=soon"),
        ("default.api.timeout.ms=0", "default.api.timeout.ms=0"),
    ],
)
def test_a_setting_that_can_not_be_kept_is_named(
    text: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "client.properties"
    config.write_text(text)
    connection = ("--bootstrap-server", "127.0.0.1:1", "--command-config", str(config))
    assert f"{config}: {named}" in complaint(capsys, *connection, "describe", "--status")


def test_where_nobody_listens_the_last_address_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as first, socket.socket() as second:
        for one in (first, second):
            one.bind(("127.0.0.1", 0))
        names = [f"127.0.0.1:{one.getsockname()[1]}" for one in (first, second)]
        line = complaint(capsys, "--bootstrap-server", ",".join(names), "describe", "--status")
    assert line == f"kraft-metadata-quorum: {names[1]}: Connection refused"


Script = list[Message | None]
"""The answers to one connection's requests, in order; None ends it."""
Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(script, ...)`: a node that plays a script a connection; gives its address."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def start(*scripts: Script) -> str:
            thread = threading.Thread(target=play, args=(listener, scripts))
            thread.start()
            stack.callback(thread.join, 10)
            return f"127.0.0.1:{listener.getsockname()[1]}"

        yield start


def play(listener: socket.socket, scripts: tuple[Script, ...]) -> None:
    listener.settimeout(10)
    for script in scripts:
        connection, _ = listener.accept()
        with connection:
            for answer in script:
                (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
                header, _ = headers.split_request(connection.recv(size, socket.MSG_WAITALL))
                if answer is None:
                    break
                _, version = codec.header_versions(header.api_key, header.version)
                head = headers.encode_response_header(header.correlation_id, version)
                connection.sendall(frame(head, codec.encode_response(answer, header.version)))


def serving(*keys: int, newest: int = 1) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=tuple(ApiVersion(api_key=key, min_version=0, max_version=newest) for key in keys)
    )


def quorum_answer(partition: PartitionData) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(topics=(TopicData(partitions=(partition,)),))


CLUSTER = describe_cluster_response.DescribeClusterResponse(cluster_id=CLUSTER_ID)
LEADERLESS = quorum_answer(PartitionData(error_code=NO_LEADER))
OLD = PartitionData(leader_id=2, current_voters=(replica(2, 120),))
BOTH = serving(55, 60)


@pytest.mark.requirement("595-65")
def test_it_asks_again_until_there_is_a_leader(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    address = serve([BOTH, CLUSTER, LEADERLESS], [BOTH, CLUSTER, quorum_answer(OLD)])
    assert metadata_quorum.run(["--bootstrap-server", address, "describe", "--status"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1] == "LeaderId:               2"
    # The older version that the node serves has no endpoints.
    assert out[6] == 'CurrentVoters:          [{"id": 2}]'


@pytest.mark.requirement("595-65")
def test_without_a_leader_it_ends_when_its_time_is_over(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = serve([BOTH, CLUSTER, LEADERLESS])
    config = tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=50\n")
    arguments = ("--bootstrap-server", address, "--command-config", str(config))
    line = complaint(capsys, *arguments, "describe", "--status")
    assert line.endswith(f"{address}: NOT_LEADER_OR_FOLLOWER")


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ([serving(60), CLUSTER], "does not serve DescribeQuorumRequest"),
        ([BOTH, None], "the node closed the connection"),
        ([BOTH, CLUSTER, quorum_answer(PartitionData(error_code=3))], "UNKNOWN_TOPIC"),
        ([BOTH, CLUSTER, DescribeQuorumResponse(error_code=31)], "CLUSTER_AUTHORIZATION_FAILED"),
        ([BOTH, CLUSTER, DescribeQuorumResponse(error_code=9999)], "error 9999"),
        ([BOTH, CLUSTER, DescribeQuorumResponse()], "an answer about 0 partitions"),
    ],
)
def test_an_answer_that_is_none_is_one_line(
    serve: Serve, script: Script, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = complaint(capsys, "--bootstrap-server", serve(script), "describe", "--status")
    assert named in line


def test_a_controller_says_who_leads(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    first: Script = [BOTH]
    address = serve(first, [BOTH, quorum_answer(OLD)])
    port = int(address.rpartition(":")[2])
    leader = describe_cluster_response.DescribeClusterBroker(
        broker_id=2, host="127.0.0.1", port=port
    )
    first.append(
        describe_cluster_response.DescribeClusterResponse(
            cluster_id=CLUSTER_ID, controller_id=2, brokers=(leader,), endpoint_type=2
        )
    )
    assert metadata_quorum.run(["--bootstrap-controller", address, "describe", "--status"]) == 0
    assert "LeaderId:               2" in capsys.readouterr().out
