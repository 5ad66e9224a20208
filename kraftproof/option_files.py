"""Write the files that options name: a file is complete, or the disk stays as before."""

import os
from collections.abc import Iterator, Mapping
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


def refuse_path(option: str, path: Path | None) -> None:
    """Refuse a path at which no file can be written; the disk stays as before.

    For results that take long: the path is refused before the work begins.

    Raises:
        UsageError: the path is a folder, its folder is missing or can't be written to, or the file
            system refuses the name, for example a name that is too long.
    """
    if path is None:
        return
    folder = path.absolute().parent
    try:
        if path.is_dir():
            raise UsageError(f"{option} {path}: Is a directory; the name of a file is expected")
        if not folder.is_dir():
            reason = "is not a folder" if folder.exists() else "does not exist; make it first"
            raise UsageError(f"{option} {path}: {folder} {reason}")
        if not path.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(f"{option} {path}: the folder {folder} can't be written to")
    except OSError as error:
        raise UsageError(f"{option} {path}: {reason_of(error)}") from error


def refuse_paths(paths: Mapping[str, Path | None]) -> None:
    """Refuse the paths of several options before the work begins.

    Raises:
        UsageError: a path can't be written.
    """
    for option, path in paths.items():
        refuse_path(option, path)


def reason_of(error: OSError) -> str:
    """Return the reason of an error without the path."""
    return str(error) if error.errno is None else os.strerror(error.errno)
