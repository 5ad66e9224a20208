"""Run `kraft-storage info | format | random-uuid`, like kafka-storage (KIP-631, "kafka-storage").

The exit status is 1 for every error and for every problem found by `info`. The tool does not check
the log. Simplification: without `--add-scram`, the tool writes only meta.properties.
"""

import argparse
import secrets
import sys
import time

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.config import directories_of
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.storage.bootstrap import write_bootstrap
from kraftproof.node.storage.directory_lock import lock_directories
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join
from kraftproof.node.storage.meta_properties import (
    FILE_NAME,
    MetaProperties,
    check_directories,
    format_directories,
    is_cluster_id,
    parse_properties,
)
from kraftproof.node.tools.add_scram import parse_add_scram
from kraftproof.node.tools.arguments import ToolParser, print_error, print_line
from kraftproof.node.tools.feature_commands import add_feature_commands
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import Uuid, format_uuid, parse_uuid

PROGRAM = "kraft-storage"


def main() -> None:
    """Run the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Run a command; return the exit status."""
    arguments = _parser().parse_args(argv)
    disk = Disk()
    try:
        if arguments.command == "random-uuid":
            print_line(random_uuid())
            return 0
        if "run" in arguments:
            return int(arguments.run(arguments))
        node_id, directories = _directories(disk, arguments.config)
        if arguments.command == "info":
            return _info(disk, directories, node_id)
        return _format(disk, directories, node_id, arguments)
    except (ConfigError, StorageError) as error:
        print_error(PROGRAM, str(error))
    except OSError as error:
        print_error(PROGRAM, f"{error.filename}: {error.strerror}")
    return 1


def random_uuid() -> str:
    """Return a random id as text that does not look like a command-line option."""
    while True:
        text = format_uuid(Uuid(secrets.token_bytes(16)))
        if not text.startswith("-"):
            return text


def _parser() -> ToolParser:
    parser = ToolParser(prog=PROGRAM, description="The storage of a node.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="say what the log directories hold")
    formatting = commands.add_parser("format", help="format the log directories")
    for command in (info, formatting):
        command.add_argument("-c", "--config", required=True, help="the node's server.properties")
    formatting.add_argument("-t", "--cluster-id", required=True, help="the cluster's id")
    formatting.add_argument(
        "-g", "--ignore-formatted", action="store_true", help="skip what is formatted already"
    )
    formatting.add_argument(
        "-S",
        "--add-scram",
        action="append",
        default=[],
        help="a first credential, as SCRAM-SHA-256=[name=alice,password=secret]",
    )
    commands.add_parser("random-uuid", help="print a random cluster id")
    add_feature_commands(commands)
    return parser


def _directories(disk: FileSystem, config: str) -> tuple[NodeId, tuple[str, ...]]:
    try:
        return directories_of(disk.read(config).decode())
    except UnicodeDecodeError as error:
        raise ConfigError(f"{config}: is not UTF-8 text") from error


def _info(disk: FileSystem, directories: tuple[str, ...], node_id: NodeId) -> int:
    found = [path for path in directories if disk.exists(path)]
    problems = [f"{path} does not exist" for path in directories if path not in found]
    formatted = [path for path in found if disk.exists(join(path, FILE_NAME))]
    problems += [f"{path} is not formatted." for path in found if path not in formatted]
    if formatted:
        try:
            check_directories(disk, formatted, node_id)
        except StorageError as error:
            problems.append(str(error))
    _print_list("Found log directory:", "Found log directories:", found)
    if formatted:
        pairs = parse_properties(
            disk.read(join(formatted[0], FILE_NAME)).decode("utf-8", "replace")
        )
        stored = ", ".join(f"{key}={pairs[key]}" for key in sorted(pairs))
        print_line(f"Found metadata: {{{stored}}}\n")
    _print_list("Found problem:", "Found problems:", problems)
    return 1 if problems else 0


def _print_list(one: str, several: str, lines: list[str]) -> None:
    if lines:
        print_line(one if len(lines) == 1 else several)
        print_line("".join(f"  {line}\n" for line in lines))


def _format(
    disk: FileSystem,
    directories: tuple[str, ...],
    node_id: NodeId,
    arguments: argparse.Namespace,
) -> int:
    cluster_id = str(arguments.cluster_id)
    try:
        parse_uuid(cluster_id)
    except WireError as error:
        raise ConfigError(f"Cluster ID string {error}") from error
    assert is_cluster_id(cluster_id)
    credentials = [parse_add_scram(text) for text in arguments.add_scram]
    meta = MetaProperties(cluster_id=cluster_id, node_id=node_id)
    release = lock_directories(disk, [path for path in directories if disk.exists(path)])
    try:
        done = format_directories(
            disk, directories, meta, ignore_formatted=bool(arguments.ignore_formatted)
        )
        if credentials and directories[0] in done:
            write_bootstrap(disk, directories[0], credentials, time.time_ns() // 1_000_000)
    finally:
        release()
    for path in done:
        print_line(f"Formatting {path} with cluster id {cluster_id}.")
    if not done:
        print_line("All of the log directories are already formatted.")
    return 0


if __name__ == "__main__":
    main()
