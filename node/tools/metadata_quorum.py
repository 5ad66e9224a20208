"""Run `kraft-metadata-quorum describe --status | --replication` (KIP-595), like Kafka's tool.

The tool asks a broker, which forwards the request, or a controller, which names the leader
(KIP-919). The bootstrap options may be before `describe`, as in Kafka, or after. Not implemented:
adding or removing controllers (KIP-853).
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final

from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.listener_security import PLAINTEXT_PEERS, PeerSecurity
from kraftproof.node.tools.arguments import ToolParser, print_error, print_line
from kraftproof.node.tools.client import Address, Client, ClientError, Unreachable, parse_addresses
from kraftproof.node.tools.command_config import read_command_config
from kraftproof.node.tools.quorum_text import Quorum, replication_lines, status_lines
from kraftproof.node.wire.errors import ErrorCode, error_name
from kraftproof.node.wire.messages.generated import describe_quorum_request
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from kraftproof.node.wire.messages.generated.describe_cluster_response import (
    DescribeClusterResponse,
)
from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    PartitionData,
)

PROGRAM: Final = "kraft-metadata-quorum"
TOPIC: Final = "__cluster_metadata"
BROKERS: Final = 1
CONTROLLERS: Final = 2
PAUSE_S: Final = 0.1
MS_PER_S: Final = 1000
_LEADERLESS: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_CONTROLLER,
    }
)


class NoLeaderYet(ClientError):
    """The quorum has no leader, or a new leader: the tool tries again."""


def main() -> None:
    """Run the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Print the requested description; return the exit status."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    problem = _misuse(arguments)
    if problem:
        parser.error(problem)
    try:
        config = read_command_config(arguments.command_config)
        endpoint_type = BROKERS if arguments.bootstrap_server else CONTROLLERS
        addresses = parse_addresses(arguments.bootstrap_server or arguments.bootstrap_controller)
        quorum = ask_quorum(addresses, endpoint_type, config.timeout_ms / MS_PER_S, config.security)
    except (ClientError, ConfigError) as error:
        print_error(PROGRAM, str(error))
        return 1
    now_ms = time.time_ns() // 1_000_000 if arguments.human_readable else None
    for line in status_lines(quorum) if arguments.status else replication_lines(quorum, now_ms):
        print_line(line)
    return 0


def _parser() -> ToolParser:
    parser = ToolParser(prog=PROGRAM, description="The state of the metadata quorum.")
    _add_connection(parser, None)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    describe = commands.add_parser("describe", help="describe the metadata quorum")
    _add_connection(describe, argparse.SUPPRESS)
    describe.add_argument("--status", action="store_true", help="a short summary")
    describe.add_argument("--replication", action="store_true", help="every replica's progress")
    describe.add_argument(
        "--human-readable", action="store_true", help="times as milliseconds ago, in the table"
    )
    return parser


def _add_connection(parser: argparse.ArgumentParser, default: str | None) -> None:
    for name, help_text in (
        ("--bootstrap-server", "brokers, as host:port,host:port"),
        ("--bootstrap-controller", "controllers, as host:port,host:port"),
        ("--command-config", "a file of client properties"),
    ):
        parser.add_argument(name, default=default, help=help_text)


def _misuse(arguments: argparse.Namespace) -> str:
    """Return the problem of an illegal combination of options (595-66)."""
    if bool(arguments.bootstrap_server) == bool(arguments.bootstrap_controller):
        return "give one of --bootstrap-server and --bootstrap-controller"
    if arguments.status == arguments.replication:
        return "give one of --status and --replication to describe"
    if arguments.human_readable and arguments.status:
        return "--human-readable goes with --replication"
    return ""


def ask_quorum(
    addresses: Sequence[Address],
    endpoint_type: int,
    timeout_s: float,
    security: PeerSecurity = PLAINTEXT_PEERS,
) -> Quorum:
    """Return the leader's answer; retry while the quorum has no leader.

    Raises:
        ClientError: no node is reachable, or no leader was found in time.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return _ask_any(addresses, endpoint_type, deadline, security)
        except NoLeaderYet:
            if time.monotonic() + PAUSE_S >= deadline:
                raise
            time.sleep(PAUSE_S)


def _ask_any(
    addresses: Sequence[Address], endpoint_type: int, deadline: float, security: PeerSecurity
) -> Quorum:
    """Ask the first reachable node."""
    unreachable = ClientError("no address was given")
    for address in addresses:
        try:
            client = Client(address, _remaining(deadline), security)
        except Unreachable as error:
            unreachable = error
            continue
        with client:
            return _ask(client, endpoint_type, deadline, security)
    raise unreachable


def _ask(client: Client, endpoint_type: int, deadline: float, security: PeerSecurity) -> Quorum:
    cluster = client.ask(DescribeClusterRequest(endpoint_type=endpoint_type))
    assert isinstance(cluster, DescribeClusterResponse)
    if cluster.error_code:
        raise _refusal(client.address, cluster.error_code, cluster.error_message)
    if endpoint_type == BROKERS:
        return _describe(client, cluster.cluster_id)
    leaders = [each for each in cluster.brokers if each.broker_id == cluster.controller_id]
    if not leaders:
        raise NoLeaderYet(f"{client.address}: the quorum has no leader")
    leader = Address(leaders[0].host, leaders[0].port)
    try:
        with Client(leader, _remaining(deadline), security) as to_leader:
            return _describe(to_leader, cluster.cluster_id)
    except Unreachable as error:
        raise NoLeaderYet(f"the leader {leaders[0].broker_id} at {error}") from error


def _describe(client: Client, cluster_id: str) -> Quorum:
    partition = describe_quorum_request.PartitionData(partition_index=0)
    topic = describe_quorum_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    answer = client.ask(describe_quorum_request.DescribeQuorumRequest(topics=(topic,)))
    assert isinstance(answer, DescribeQuorumResponse)
    if answer.error_code:
        raise _refusal(client.address, answer.error_code, answer.error_message)
    found = [partition for topic in answer.topics for partition in topic.partitions]
    if len(found) != 1:
        raise ClientError(f"{client.address}: an answer about {len(found)} partitions")
    if found[0].error_code:
        raise _refusal(client.address, found[0].error_code, found[0].error_message)
    _check(client.address, found[0])
    return Quorum(cluster_id=cluster_id, partition=found[0], nodes=answer.nodes)


def _check(address: Address, partition: PartitionData) -> None:
    if partition.leader_id not in {voter.replica_id for voter in partition.current_voters}:
        raise NoLeaderYet(f"{address}: leader {partition.leader_id} is none of the voters")


def _refusal(address: Address, code: int, message: str | None) -> ClientError:
    name = error_name(code)
    text = f"{address}: {name}: {message}" if message else f"{address}: {name}"
    return NoLeaderYet(text) if code in _LEADERLESS else ClientError(text)


def _remaining(deadline: float) -> float:
    return max(PAUSE_S, deadline - time.monotonic())


if __name__ == "__main__":
    main()
