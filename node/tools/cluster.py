"""Run `kraft-cluster cluster-id | unregister | list-endpoints`, like kafka-cluster (KIP-631).

The tool asks the first reachable node of the bootstrap servers or controllers. Every error is one
line and exit status 1.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.tools.arguments import ToolParser, print_error, print_line
from kraftproof.node.tools.client import Address, Client, ClientError, Unreachable, parse_addresses
from kraftproof.node.tools.command_config import CommandConfig, read_command_config
from kraftproof.node.wire.errors import ErrorCode, error_name
from kraftproof.node.wire.messages import (
    api_versions_request,
    describe_cluster_request,
    describe_cluster_response,
    unregister_broker_request,
    unregister_broker_response,
)

PROGRAM: Final = "kraft-cluster"
BROKERS: Final = 1
CONTROLLERS: Final = 2
PAUSE_S: Final = 0.1
MS_PER_S: Final = 1000
_AGAIN: Final = frozenset(
    {ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.BROKER_NOT_AVAILABLE}
)
"""Errors after which the request is sent again; unregistering twice is the same as once."""
_UNSUPPORTED: Final = "The target cluster does not support the broker unregistration API."
Cluster = describe_cluster_response.DescribeClusterResponse


class _Retry(ClientError):
    """The cluster has no active controller at present."""


def main() -> None:
    """Run the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Run a command; return the exit status."""
    arguments = _parser().parse_args(argv)
    if arguments.config is not None:
        print_line("Option --config has been deprecated: use --command-config instead.")
    try:
        config = read_command_config(arguments.command_config or arguments.config)
        is_server = arguments.bootstrap_server is not None
        addresses = parse_addresses(arguments.bootstrap_server or arguments.bootstrap_controller)
        ask = _COMMANDS[arguments.command]
        _until(config, lambda left: _ask_any(addresses, left, ask, arguments, is_server))
    except (ClientError, ConfigError) as error:
        print_error(PROGRAM, str(error))
        return 1
    return 0


def _parser() -> ToolParser:
    parser = ToolParser(prog=PROGRAM, description="The cluster as a whole.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("cluster-id", "print the id of the cluster"),
        ("unregister", "unregister a broker"),
        ("list-endpoints", "list the endpoints of brokers or controllers"),
    ):
        command = commands.add_parser(name, help=text)
        bootstrap = command.add_mutually_exclusive_group(required=True)
        bootstrap.add_argument("-b", "--bootstrap-server", help="brokers, as host:port,host:port")
        bootstrap.add_argument("-C", "--bootstrap-controller", help="controllers, as host:port,...")
        command.add_argument("-c", "--command-config", help="a file of client properties")
        command.add_argument("--config", help="the former name of --command-config")
        if name == "unregister":
            command.add_argument("-i", "--id", type=int, required=True, help="the broker's id")
        if name == "list-endpoints":
            command.add_argument(
                "--include-fenced-brokers", action="store_true", help="list fenced brokers, too"
            )
    return parser


def _until(config: CommandConfig, ask: Callable[[CommandConfig], None]) -> None:
    """Ask until the cluster has an active controller, or the time is up."""
    deadline = time.monotonic() + config.timeout_ms / MS_PER_S
    while True:
        try:
            left_ms = int((deadline - time.monotonic()) * MS_PER_S)
            ask(replace(config, timeout_ms=max(1, left_ms)))
        except _Retry:
            if time.monotonic() + PAUSE_S >= deadline:
                raise
            time.sleep(PAUSE_S)
        else:
            return


def _ask_any(
    addresses: Sequence[Address],
    config: CommandConfig,
    ask: "Ask",
    arguments: argparse.Namespace,
    is_server: bool,  # noqa: FBT001 - one of the values that an Ask takes
) -> None:
    """Ask the first reachable node."""
    problem = ClientError("no address was given")
    for address in addresses:
        try:
            client = Client(address, config.timeout_ms / MS_PER_S, config.security)
        except Unreachable as error:
            problem = error
            continue
        with client:
            ask(client, arguments, BROKERS if is_server else CONTROLLERS, config)
            return
    raise problem


def _describe(client: Client, endpoint_type: int, *, include_fenced: bool = False) -> Cluster:
    request = describe_cluster_request.DescribeClusterRequest(
        endpoint_type=endpoint_type, include_fenced_brokers=include_fenced
    )
    answer = client.ask(request)
    assert isinstance(answer, Cluster)
    _check(client, answer.error_code, answer.error_message)
    return answer


def _cluster_id(
    client: Client, _: argparse.Namespace, endpoint_type: int, __: CommandConfig
) -> None:
    print_line(f"Cluster ID: {_describe(client, endpoint_type).cluster_id}")


def _unregister(
    client: Client, arguments: argparse.Namespace, endpoint_type: int, config: CommandConfig
) -> None:
    if endpoint_type == BROKERS:
        _unregister_at(client, arguments.id)
        return
    cluster = _describe(client, CONTROLLERS)
    active = [node for node in cluster.brokers if node.broker_id == cluster.controller_id]
    if not active:
        raise _Retry(f"{client.address}: the quorum has no leader")
    try:
        leader = Address(active[0].host, active[0].port)
        with Client(leader, config.timeout_ms / MS_PER_S, config.security) as controller:
            _unregister_at(controller, arguments.id)
    except Unreachable as error:
        raise _Retry(f"the leader {active[0].broker_id} at {error}") from error


def _unregister_at(client: Client, broker_id: int) -> None:
    served = client.ask(api_versions_request.ApiVersionsRequest(), 0)
    request = unregister_broker_request.UnregisterBrokerRequest(broker_id=broker_id)
    if request.API_KEY not in {api.api_key for api in getattr(served, "api_keys", ())}:
        print_line(_UNSUPPORTED)
        return
    answer = client.ask(request)
    assert isinstance(answer, unregister_broker_response.UnregisterBrokerResponse)
    _check(client, answer.error_code, answer.error_message)
    print_line(f"Broker {broker_id} is no longer registered.")


def _list_endpoints(
    client: Client, arguments: argparse.Namespace, endpoint_type: int, _: CommandConfig
) -> None:
    if endpoint_type == CONTROLLERS and arguments.include_fenced_brokers:
        raise ClientError("--include-fenced-brokers goes with --bootstrap-server")
    include_fenced = bool(arguments.include_fenced_brokers)
    cluster = _describe(client, endpoint_type, include_fenced=include_fenced)
    is_brokers = endpoint_type == BROKERS
    host_width = max((len(node.host) for node in cluster.brokers), default=0)
    rack_width = max((len(node.rack or "null") for node in cluster.brokers), default=0)
    rack_width = max(rack_width, 10)
    head = f"{'ID':<10} {'HOST':<{host_width}} {'PORT':<10} {'RACK':<{rack_width}} "
    print_line(f"{head}{'STATE':<10} {'ENDPOINT_TYPE':<15}")
    for node in sorted(cluster.brokers, key=lambda node: node.broker_id):
        state = "fenced" if node.is_fenced else "unfenced"
        print_line(
            f"{node.broker_id:<10} {node.host:<{host_width}} {node.port:<10} "
            f"{node.rack or 'null':<{rack_width}} {state if is_brokers else 'controller':<10} "
            f"{'broker' if is_brokers else 'controller':<15}"
        )


def _check(client: Client, code: int, message: str | None) -> None:
    if code == ErrorCode.NONE:
        return
    name = error_name(code)
    text = f"{client.address}: {name}: {message}" if message else f"{client.address}: {name}"
    raise _Retry(text) if code in _AGAIN else ClientError(text)


Ask = Callable[[Client, argparse.Namespace, int, CommandConfig], None]
_COMMANDS: Final[dict[str, Ask]] = {
    "cluster-id": _cluster_id,
    "unregister": _unregister,
    "list-endpoints": _list_endpoints,
}

if __name__ == "__main__":
    main()
