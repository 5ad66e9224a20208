"""Define the errors of a data directory; the text is a single line for the user."""


class StorageError(Exception):
    """The node must not start on this directory; the message names the file and the remedy."""


class DamagedPartitionError(StorageError):
    """The log of a partition is damaged, so that the replica stays offline."""


class CorruptLogError(StorageError):
    """Bytes in the middle of the log are damaged; recovery must not guess their content."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(
            f"{path}: corrupt at byte {position}, which is no torn tail ({reason}); "
            "restore the file, or clear the node's metadata directory if other voters are whole"
        )
        self.path = path
        self.position = position
