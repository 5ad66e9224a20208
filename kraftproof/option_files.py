"""Write the files that options name: a file is complete, or the disk stays as before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftproof.checkers.unfinished import whole_file
from kraftproof.errors import UsageError


@contextmanager
def option_file(option: str, path: Path) -> Iterator[Path]:
    """Yield a temporary path, and rename the file to the option's path after the block.

    Raises:
        UsageError: the file can't be written, for example on a full disk.
    """
    try:
        with whole_file(path) as part:
            yield part
    except OSError as error:
        raise UsageError(f"{option} {path}: {reason_of(error)}") from error


def refuse_name(option: str, path: Path) -> None:
    """Refuse a path whose name no file can have; the disk stays as before.

    For results that take long: the path is refused before the work begins.

    Raises:
        UsageError: the file system refuses the name, for example a name that is too long.
    """
    try:
        path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{option} {path}: {reason_of(error)}") from error


def reason_of(error: OSError) -> str:
    """Return the reason of an error without the path."""
    return str(error) if error.errno is None else os.strerror(error.errno)
