"""Run `kraft-storage format` with the options and output of Kafka 4.3 (KIP-631, KIP-853, KIP-900).

Each directory gets its first records before its meta.properties, so that a crash in between leaves
the directory unformatted. Differences to Kafka: the default release is this node's, the keys of
credentials are not printed, and the cluster id must be a UUID.
"""

import argparse
import time
from collections.abc import Mapping

from kraftproof.node.core.metadata.version import METADATA_VERSION
from kraftproof.node.properties.formatting import (
    FormatConfig,
    read_controller_endpoint,
    read_format_config,
)
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.storage.bootstrap import write_bootstrap
from kraftproof.node.storage.directory_lock import lock_directories
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.meta_properties import (
    MetaProperties,
    format_directories,
    is_cluster_id,
    random_directory_id,
)
from kraftproof.node.storage.voter_set import write_voters
from kraftproof.node.tools.add_scram import parse_add_scram
from kraftproof.node.tools.arguments import print_line
from kraftproof.node.tools.feature_levels import KRAFT_VERSION, first_levels
from kraftproof.node.tools.initial_controllers import initial_voter, parse_initial_controllers
from kraftproof.node.tools.release_versions import RELEASE_VERSIONS
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.generated.voters import Voter
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, UserScramCredentialRecord
from kraftproof.node.wire.types import parse_uuid

SCRAM_FROM = 11
"""The level of metadata.version, 3.5-IV2, from which credentials are in the log."""

FirstRecord = FeatureLevelRecord | UserScramCredentialRecord


def add_format_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the format command, without --config."""
    add = parser.add_argument
    add("-t", "--cluster-id", required=True, help="the cluster's id")
    add("-g", "--ignore-formatted", action="store_true", help="skip what is formatted already")
    add("-r", "--release-version", help="the release of the first features, as 4.0-IV3")
    add("-f", "--feature", action="append", default=[], help="a level, as metadata.version=25")
    add(
        "-S",
        "--add-scram",
        action="append",
        default=[],
        help="a first credential, as SCRAM-SHA-256=[name=alice,password=secret]",
    )
    quorum = parser.add_mutually_exclusive_group()
    quorum.add_argument(
        "-s", "--standalone", action="store_true", help="this controller is the only voter"
    )
    quorum.add_argument(
        "-N", "--no-initial-controllers", action="store_true", help="name no voter in the storage"
    )
    quorum.add_argument(
        "-I", "--initial-controllers", help="the first voters, as id@host:port:directory,..."
    )


def format_storage(disk: FileSystem, text: str, arguments: argparse.Namespace) -> int:
    """Format the directories of a server.properties with the content `text`; return the status.

    Raises:
        ConfigError: an option is malformed or contradicts the file.
        StorageError: a directory is formatted already.
    """
    config = read_format_config(text)
    cluster_id = _cluster_id(arguments)
    _check_quorum_options(config, arguments)
    voters = _voters(config, text, arguments)
    is_dynamic = not config.has_static_voters and bool(voters or arguments.no_initial_controllers)
    levels = first_levels(arguments.release_version, arguments.feature, is_dynamic=is_dynamic)
    records = _first_records(levels, arguments.add_scram)
    timestamp_ms = time.time_ns() // 1_000_000
    release = RELEASE_VERSIONS[levels[METADATA_VERSION]]
    own = [voter.voter_directory_id for voter in voters if voter.voter_id == config.node_id]

    def prepare(path: str) -> None:
        is_metadata = path == config.directories[0]
        kind = "data" if not is_metadata else _kind(voters, is_voter=bool(own))
        print_line(f"Formatting {kind} directory {path} with {METADATA_VERSION} {release}.")
        disk.make_directory(path)
        write_bootstrap(disk, path, records, timestamp_ms)
        if voters and is_metadata:
            write_voters(disk, path, voters, timestamp_ms)

    present = [path for path in config.directories if disk.exists(path)]
    unlock = lock_directories(disk, present)
    try:
        done = format_directories(
            disk,
            sorted(config.directories),
            MetaProperties(cluster_id=cluster_id, node_id=config.node_id),
            ignore_formatted=bool(arguments.ignore_formatted),
            announce=lambda: print_line(_described(records, levels[METADATA_VERSION])),
            prepare=prepare,
            ids={config.directories[0]: own[0]} if own else {},
        )
    finally:
        unlock()
    if not done:
        print_line("All of the log directories are already formatted.")
    return 0


def _kind(voters: tuple[Voter, ...], *, is_voter: bool) -> str:
    if not voters:
        return "metadata"
    return "dynamic metadata voter" if is_voter else "dynamic metadata"


def _cluster_id(arguments: argparse.Namespace) -> str:
    cluster_id = str(arguments.cluster_id)
    try:
        parse_uuid(cluster_id)
    except WireError as error:
        raise ConfigError(f"Cluster ID string {error}") from error
    assert is_cluster_id(cluster_id)
    return cluster_id


def _check_quorum_options(config: FormatConfig, arguments: argparse.Namespace) -> None:
    if arguments.standalone and not config.is_controller:
        raise ConfigError("You can only use --standalone on a controller.")
    names_voters = arguments.standalone or arguments.initial_controllers is not None
    if names_voters and config.has_static_voters:
        raise ConfigError(
            "You cannot specify controller.quorum.voters and format the node with"
            " --initial-controllers or --standalone. If you want to use dynamic quorum, please"
            " remove controller.quorum.voters and specify controller.quorum.bootstrap.servers"
            " instead."
        )
    chosen = names_voters or arguments.no_initial_controllers
    if config.is_controller and not config.has_static_voters and not chosen:
        raise ConfigError(
            "Because controller.quorum.voters is not set on this controller, you must specify one"
            " of the following: --standalone, --initial-controllers, or --no-initial-controllers."
        )


def _voters(config: FormatConfig, text: str, arguments: argparse.Namespace) -> tuple[Voter, ...]:
    listener = config.controller_listener
    if arguments.initial_controllers is not None:
        return parse_initial_controllers(arguments.initial_controllers, listener)
    if not arguments.standalone:
        return ()
    endpoint = read_controller_endpoint(text)
    directory_id = random_directory_id()
    return (initial_voter(config.node_id, endpoint.host, endpoint.port, directory_id, listener),)


def _first_records(levels: Mapping[str, int], credentials: list[str]) -> list[FirstRecord]:
    records: list[FirstRecord] = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in levels.items()
        if level > 0 and name != KRAFT_VERSION
    ]
    if credentials and levels[METADATA_VERSION] < SCRAM_FROM:
        raise ConfigError(
            f"SCRAM is only supported in {METADATA_VERSION} {RELEASE_VERSIONS[SCRAM_FROM]}"
            " or later."
        )
    records.extend([parse_add_scram(text) for text in credentials])
    return records


def _described(records: list[FirstRecord], level: int) -> str:
    """Return Kafka's description of the first records, without the keys of credentials."""
    shown = ", ".join([f"ApiMessageAndVersion({_text(record)} at version 0)" for record in records])
    return (
        f"Bootstrap metadata: BootstrapMetadata(records=[{shown}],"
        f" metadataVersionLevel={level}, source=format command)"
    )


def _text(record: FirstRecord) -> str:
    if isinstance(record, FeatureLevelRecord):
        return f"FeatureLevelRecord(name='{record.name}', featureLevel={record.feature_level})"
    return (
        f"UserScramCredentialRecord(name='{record.name}', mechanism={record.mechanism},"
        f" salt=[hidden], storedKey=[hidden], serverKey=[hidden], iterations={record.iterations})"
    )
