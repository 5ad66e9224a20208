"""Writes the files that options name: each is there whole, or the disk is as it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftproof.checkers.unfinished import whole_file
from kraftproof.errors import UsageError


@contextmanager
def option_file(option: str, path: Path) -> Iterator[Path]:
    """Hand out a path to write to, which takes the name of the option's file after the block.

    Raises:
        UsageError: the file can't be written, such as on a full disk.
    """
    try:
        with whole_file(path) as part:
            yield part
    except OSError as error:
        raise UsageError(f"{option} {path}: {reason_of(error)}") from error


def reason_of(error: OSError) -> str:
    """Return the reason of an error in a few words, without a path."""
    return str(error) if error.errno is None else os.strerror(error.errno)
