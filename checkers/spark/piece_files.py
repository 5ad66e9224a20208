"""Keeps the pieces of partitions in files of the stage; only their places pass through Java."""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from kraftproof.checkers.logs.split.pieces import Piece

_PREFIX: Final = "pieces-"


class Filed(NamedTuple):
    """A piece whose bytes lie in a file.

    Attributes:
        key: the partition.
        part: the number of the range, or OF_KEY.
        kind: what the rows are.
        n: a number whose meaning depends on the kind.
        values: the end of the values' texts after @.
        file: the name of the file, in the folder of the run.
        at: the place of the first byte.
        size: the number of bytes.
    """

    key: str
    part: int
    kind: str
    n: int
    values: str
    file: str
    at: int
    size: int


def written(pieces: Iterable[Piece], folder: Path) -> Iterator[Filed]:
    """Write pieces to a new file of a folder, and yield their places.

    Each attempt of a task has a file of its own.
    """
    name = f"{_PREFIX}{uuid.uuid4().hex}"
    at = 0
    with (folder / name).open("wb") as file:
        for one in pieces:
            file.write(one.data)
            yield Filed(one.key, one.part, one.kind, one.n, one.run, name, at, len(one.data))
            at += len(one.data)


def read(filed: Iterable[Filed], folder: Path) -> list[Piece]:
    """Return pieces from the files of a folder."""
    found = []
    with ExitStack() as stack:
        files = {}
        for one in filed:
            if one.file not in files:
                files[one.file] = stack.enter_context((folder / one.file).open("rb"))
            files[one.file].seek(one.at)
            data = files[one.file].read(one.size)
            found.append(Piece(one.key, one.part, one.kind, data, one.n, one.values))
    return found
