"""The meta.properties file that marks a directory as formatted (KIP-631, meta.properties).

Not: choosing ids. Version 1 is written; version 0 (of ZooKeeper days) is refused by name.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from node.core.types import NodeId
from node.storage.errors import StorageError
from node.storage.filesystem import FileSystem, join, replace_durably

FILE_NAME = "meta.properties"
VERSION = 1
CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{22}")


class MetaProperties(Struct, frozen=True, kw_only=True):
    """Whose directory it is."""

    cluster_id: str
    node_id: NodeId


def is_cluster_id(text: str) -> bool:
    """Tell whether `text` is 22 characters of URL-safe base64."""
    return CLUSTER_ID.fullmatch(text) is not None


def parse_properties(text: str) -> dict[str, str]:
    """Read the plain form of Java properties: `key=value` lines, `#` and `!` comments."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        key, _, value = stripped.partition("=")
        pairs[key.strip()] = value.strip()
    return pairs


def read_meta_properties(filesystem: FileSystem, directory: str) -> MetaProperties:
    """Return the ids of a formatted directory; an empty one is never taken for new (631-05)."""
    path = join(directory, FILE_NAME)
    if not filesystem.exists(path):
        raise StorageError(f"{path}: not found; format the directory with kraft-storage format")
    try:
        pairs = parse_properties(filesystem.read(path).decode())
    except UnicodeDecodeError as error:
        raise StorageError(f"{path}: is not text; restore the file") from error
    if pairs.get("version") != str(VERSION):
        found = pairs.get("version", "missing")
        raise StorageError(f"{path}: version is {found}, only {VERSION} can be read")
    cluster_id = pairs.get("cluster.id", "")
    if not is_cluster_id(cluster_id):
        raise StorageError(
            f"{path}: cluster.id is {cluster_id!r}, not 22 characters of URL-safe base64"
        )
    node_id = pairs.get("node.id", "")
    if not re.fullmatch(r"\d{1,10}", node_id):
        raise StorageError(f"{path}: node.id is {node_id!r}, not a number of 0 or more")
    return MetaProperties(cluster_id=cluster_id, node_id=NodeId(int(node_id)))


def write_meta_properties(filesystem: FileSystem, directory: str, meta: MetaProperties) -> None:
    """Mark a directory as formatted, durably."""
    filesystem.make_directory(directory)
    text = f"#\nversion={VERSION}\ncluster.id={meta.cluster_id}\nnode.id={meta.node_id}\n"
    replace_durably(filesystem, join(directory, FILE_NAME), text.encode())


def format_directories(
    filesystem: FileSystem,
    directories: Sequence[str],
    meta: MetaProperties,
    *,
    ignore_formatted: bool = False,
) -> list[str]:
    """Format all directories or, if one is formatted already, none; return those written."""
    fresh = [path for path in directories if not filesystem.exists(join(path, FILE_NAME))]
    if len(fresh) < len(directories) and not ignore_formatted:
        formatted = next(path for path in directories if path not in fresh)
        raise StorageError(
            f"Log directory {formatted} is already formatted. "
            "Use --ignore-formatted to ignore this directory and format the others."
        )
    for path in fresh:
        write_meta_properties(filesystem, path, meta)
    return fresh


def check_directories(
    filesystem: FileSystem, directories: Sequence[str], node_id: NodeId
) -> MetaProperties:
    """Return the one identity that all directories agree on (631-92)."""
    first: MetaProperties | None = None
    for directory in directories:
        meta = read_meta_properties(filesystem, directory)
        path = join(directory, FILE_NAME)
        if meta.node_id != node_id:
            raise StorageError(f"{path}: node.id is {meta.node_id}, the configuration's {node_id}")
        if first is not None and meta.cluster_id != first.cluster_id:
            raise StorageError(
                f"{path}: cluster.id is {meta.cluster_id}, but {first.cluster_id} "
                f"in {directories[0]}"
            )
        first = first or meta
    if first is None:
        raise StorageError("log.dirs names no directory")
    return first
