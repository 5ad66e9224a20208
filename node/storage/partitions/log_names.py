"""Name the directories of partitions, deleted partitions and stray partitions, as Kafka does."""

import re
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.storage.filesystem import FileSystem, join

DELETED: Final = "-delete"
STRAY: Final = "-stray"
LONGEST_NAME: Final = 255
"""Bytes of the longest file name."""
_PARTITION: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-(\d{1,10})", re.ASCII)
_DOOMED: Final = re.compile(r".+\.[0-9a-f]{32}-delete")


def partition_directory(topic: str, partition: int) -> str:
    """Return the name of a partition's directory."""
    return f"{topic}-{partition}"


def parse_partition_directory(name: str) -> tuple[str, int] | None:
    """Return topic and number of a partition's directory; None for any other name."""
    match = _PARTITION.fullmatch(name)
    if match is None or str(int(match[2])) != match[2]:
        return None
    return match[1], int(match[2])


def is_doomed(name: str) -> bool:
    """Return whether a name is that of a deleted partition."""
    return _DOOMED.fullmatch(name) is not None


def retired_name(filesystem: FileSystem, directory: str, name: str, log: LogId, kind: str) -> str:
    """Return a free name for a directory that is deleted or stray.

    The 32 hexadecimal digits begin as the topic id, so that a simulated run needs no chance.
    """
    number = int.from_bytes(log.topic_id, "big")
    while True:
        suffix = f".{number % (1 << 128):032x}{kind}"
        retired = name[: LONGEST_NAME - len(suffix)] + suffix
        if not filesystem.exists(join(directory, retired)):
            return retired
        number += 1
