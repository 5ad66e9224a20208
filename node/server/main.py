"""`kraft-node server.properties`: from a file and a formatted disk to a running node.

Not: the node. Whatever is wrong with configuration or disk is one line and exit status 1.
"""

import asyncio
import errno
import resource
import secrets
import signal
import sys
from collections.abc import Mapping, Sequence

from kraftproof.node.properties.config import ServerConfig, parse_hosts, parse_server_properties
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.known_keys import unused_warning
from kraftproof.node.server.console import say
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.stored import open_node_storage
from kraftproof.node.storage.voter_set import read_voters
from kraftproof.node.tools.arguments import ToolParser
from kraftproof.node.wire.types import Uuid, format_uuid


def main() -> None:
    """Entry point of the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Run a node until it exits; return the status."""
    arguments = _parser().parse_args(argv)
    disk = Disk()
    try:
        text = _read_text(disk, arguments.properties)
        config = parse_server_properties(text, lambda path: read_voters(disk, path))
        for key in config.unused_keys:
            say(unused_warning(key))
        hosts = parse_hosts(_read_text(disk, arguments.hosts_file)) if arguments.hosts_file else {}
        _refuse_unreadable(disk, config.storage.directories)
        return asyncio.run(_run_node(config, hosts, disk))
    except (ConfigError, StorageError) as error:
        say(str(error))
    except OSError as error:
        say(f"{error.filename or 'operating system'}: {error.strerror or error}")
    return 1


def _parser() -> ToolParser:
    parser = ToolParser(prog="kraft-node", description="Run one node of a cluster.")
    parser.add_argument("properties", help="the node's server.properties")
    parser.add_argument("--hosts-file", help="addresses to reach voters at, as in /etc/hosts")
    return parser


def _read_text(filesystem: FileSystem, path: str) -> str:
    try:
        return filesystem.read(path).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text") from error


def _refuse_unreadable(disk: FileSystem, directories: Sequence[str]) -> None:
    """Refuse a directory that can't be looked into: what is in it must not count as missing.

    A directory on a failed disk (EIO) is left to the storage, which may do without it.

    Raises:
        ConfigError: it is no directory, or this user may not read it.
    """
    for directory in directories:
        try:
            disk.list_directory(directory)
        except FileNotFoundError:
            continue  # a directory that was never formatted is named by what looks for its id
        except OSError as error:
            if error.errno == errno.EIO:
                continue
            raise ConfigError(
                f"{directory}: {error.strerror}; log.dirs and metadata.log.dir must name "
                "directories that this user can read and write"
            ) from error


def _allow_open_files() -> None:
    """Raise the limit of open files as far as this user may: each connection and log needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _run_node(config: ServerConfig, hosts: Mapping[str, str], disk: FileSystem) -> int:
    # The core takes a while to import; a configuration error should not wait for it.
    from kraftproof.node.server.garbage_collection import keep_collections_short
    from kraftproof.node.server.node_process import NodeProcess
    from kraftproof.node.server.principals import install_principal_builder
    from kraftproof.node.server.trace import TraceWriter

    stored = open_node_storage(disk, config.storage)
    for warning in (*stored.warnings, *stored.first.warnings):
        say(warning)
    incarnation = Uuid(secrets.token_bytes(16))
    configured = config.node_config(
        cluster_id=stored.cluster_id,
        incarnation=incarnation,
        previous_broker_epoch=stored.previous_broker_epoch,
    )
    node_config = stored.configured(configured)
    node_id = node_config.node_id
    _allow_open_files()
    trace = None
    if config.trace_file is not None:
        trace = TraceWriter(
            disk, config.trace_file, node=node_id, incarnation=format_uuid(incarnation)
        )
    install_principal_builder(config.principals)
    process = NodeProcess(config, node_config, stored, hosts=hosts, trace=trace)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, process.stop)
    keep_collections_short()
    roles = " and ".join(
        name
        for name, has in (
            ("controller", node_config.is_controller),
            ("broker", node_config.is_broker),
        )
        if has
    )
    say(f"node {node_id} of cluster {stored.cluster_id} starts as {roles}")
    return await process.run()


if __name__ == "__main__":
    main()
