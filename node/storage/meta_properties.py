"""Read and write meta.properties, the mark of a formatted directory (KIP-631).

Each directory has a random id from its formatting. A directory formatted without an id, as by older
versions, gets an id at the next start (KIP-858). The node writes version 1 and refuses version 0
(ZooKeeper) with a message.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.storage.java_properties import format_property, parse_properties
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import Uuid, format_uuid, parse_uuid

FILE_NAME = "meta.properties"
VERSION = 1
CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{22}")
RESERVED_IDS = 100
"""Directory ids below this number are reserved for a meaning in records."""
_OWN_KEYS = frozenset({"version", "cluster.id", "node.id", "directory.id"})

DrawId = Callable[[], Uuid]


class MetaProperties(Struct, frozen=True, kw_only=True):
    """The identity of a directory."""

    cluster_id: str
    node_id: NodeId
    directory_id: Uuid | None = None
    """None for a directory that was formatted without an id."""
    others: Mapping[str, str] = {}
    """Unknown properties, which survive a rewrite of the file."""


class FormattedDirectories(Struct, frozen=True, kw_only=True):
    """The cluster id of a node's directories, and the id of each directory."""

    cluster_id: str
    ids: Mapping[str, Uuid]


def random_directory_id() -> Uuid:
    """Return a random id that is not reserved and does not look like a command-line option."""
    while True:
        drawn = Uuid(secrets.token_bytes(16))
        if not is_reserved(drawn) and not format_uuid(drawn).startswith("-"):
            return drawn


def is_reserved(directory_id: Uuid) -> bool:
    """Return whether the id is reserved."""
    return int.from_bytes(directory_id, "big") < RESERVED_IDS


def is_cluster_id(text: str) -> bool:
    """Return whether `text` is 22 characters of URL-safe base64."""
    return CLUSTER_ID.fullmatch(text) is not None


def read_meta_properties(filesystem: FileSystem, directory: str) -> MetaProperties:
    """Return the identity of a formatted directory; refuse an unformatted directory (631-05)."""
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
    return MetaProperties(
        cluster_id=cluster_id,
        node_id=NodeId(int(node_id)),
        directory_id=_directory_id(path, pairs.get("directory.id")),
        others={key: value for key, value in pairs.items() if key not in _OWN_KEYS},
    )


def _directory_id(path: str, text: str | None) -> Uuid | None:
    if text is None:
        return None
    try:
        directory_id = parse_uuid(text)
    except WireError as error:
        raise StorageError(f"{path}: directory.id {error}") from error
    if is_reserved(directory_id):
        raise StorageError(f"{path}: directory.id is {text}, which is reserved")
    return directory_id


def write_meta_properties(filesystem: FileSystem, directory: str, meta: MetaProperties) -> None:
    """Write the identity of a directory, durably."""
    filesystem.make_directory(directory)
    pairs = {
        **meta.others,
        "version": str(VERSION),
        "cluster.id": meta.cluster_id,
        "node.id": str(meta.node_id),
    }
    if meta.directory_id is not None:
        pairs["directory.id"] = format_uuid(meta.directory_id)
    text = "#\n" + "".join(format_property(key, value) for key, value in pairs.items())
    replace_durably(filesystem, join(directory, FILE_NAME), text.encode())


def format_directories(
    filesystem: FileSystem,
    directories: Sequence[str],
    meta: MetaProperties,
    *,
    ignore_formatted: bool = False,
    draw_id: DrawId = random_directory_id,
    ids: Mapping[str, Uuid] = MappingProxyType({}),
    announce: Callable[[], None] = lambda: None,
    prepare: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Format every directory; return the newly formatted directories.

    A directory has its id of `ids`, or else a random id. A formatted directory is an error, or is
    left as it is with `ignore_formatted`. The function calls `announce` before the first change,
    and `prepare` with each directory before its meta.properties is written.
    """
    fresh = [path for path in directories if not filesystem.exists(join(path, FILE_NAME))]
    if len(fresh) < len(directories) and not ignore_formatted:
        formatted = next(path for path in directories if path not in fresh)
        raise StorageError(
            f"Log directory {formatted} is already formatted. "
            "Use --ignore-formatted to ignore this directory and format the others."
        )
    if fresh:
        announce()
    for path in fresh:
        prepare(path)
        directory_id = ids.get(path) or draw_id()
        write_meta_properties(filesystem, path, replace(meta, directory_id=directory_id))
    return fresh


def open_directories(
    filesystem: FileSystem, directories: Sequence[str], node_id: NodeId, draw_id: DrawId
) -> FormattedDirectories:
    """Return the common cluster id and the directory ids; draw missing ids (KIP-858)."""
    first = check_directories(filesystem, directories, node_id)
    ids: dict[str, Uuid] = {}
    for directory in directories:
        meta = read_meta_properties(filesystem, directory)
        if meta.directory_id is None:
            meta = replace(meta, directory_id=draw_id())
            write_meta_properties(filesystem, directory, meta)
        assert meta.directory_id is not None, "it was drawn"
        ids[directory] = meta.directory_id
    if len(set(ids.values())) < len(ids):
        raise StorageError(
            f"{' and '.join(directories)}: two have the same directory.id;"
            " format the copied directory again"
        )
    return FormattedDirectories(cluster_id=first.cluster_id, ids=ids)


def check_directories(
    filesystem: FileSystem, directories: Sequence[str], node_id: NodeId
) -> MetaProperties:
    """Return the common identity of the directories; refuse different identities (631-92)."""
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
