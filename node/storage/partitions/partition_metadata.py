"""Read and write partition.metadata, the topic id of a partition's directory (KIP-516)."""

import re
from typing import Final

from kraftproof.node.storage.filesystem import FileSystem, join
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import Uuid, format_uuid, parse_uuid

FILE_NAME: Final = "partition.metadata"
_CONTENT: Final = re.compile(r"version: ?0\s+topic_id: ?(\S{22})\s*", re.ASCII)


def write_topic_id(filesystem: FileSystem, directory: str, topic_id: Uuid) -> None:
    """Write the file; not yet durable."""
    handle = filesystem.append_to(join(directory, FILE_NAME))
    try:
        handle.write(f"version: 0\ntopic_id: {format_uuid(topic_id)}\n".encode())
    finally:
        handle.close()


def read_topic_id(filesystem: FileSystem, directory: str) -> Uuid | None:
    """Return the topic id; None if the file is missing or broken, as before the first flush."""
    path = join(directory, FILE_NAME)
    if not filesystem.exists(path):
        return None
    match = _CONTENT.fullmatch(filesystem.read(path).decode("utf-8", "replace"))
    if match is None:
        return None
    try:
        return parse_uuid(match[1])
    except WireError:
        return None
