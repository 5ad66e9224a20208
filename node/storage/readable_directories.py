"""Find the log directories on a failed disk, without which a node starts (KIP-112)."""

from collections.abc import Sequence

from kraftproof.node.storage.filesystem import FileSystem


def readable_directories(
    filesystem: FileSystem, directories: Sequence[str], vital: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the directories that can be read, and a warning for each other directory.

    A directory that is missing counts as readable: what reads it refuses it by name.

    Raises:
        OSError: the vital directory, which has the metadata log, can't be read.
    """
    readable: list[str] = []
    warnings: list[str] = []
    for directory in directories:
        try:
            filesystem.list_directory(directory)
        except FileNotFoundError:
            pass
        except OSError as error:
            if directory == vital:
                raise
            warnings.append(f"{directory}: {error.strerror or error}; {OFFLINE}")
            continue
        readable.append(directory)
    return tuple(readable), tuple(warnings)


OFFLINE = "the partitions in this log directory are offline until the next start"
"""The consequence of a failed log directory."""
