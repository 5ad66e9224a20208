"""What can be wrong with a data directory; the text of each error is the one line a user sees."""


class StorageError(Exception):
    """A node must not start on what it found; the message names the file and the remedy."""


class CorruptLogError(StorageError):
    """Bytes in the middle of the log are not what was written; nothing may be guessed."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(
            f"{path}: corrupt at byte {position}, which is no torn tail ({reason}); "
            "restore the file, or clear the node's metadata directory if other voters are whole"
        )
        self.path = path
        self.position = position
