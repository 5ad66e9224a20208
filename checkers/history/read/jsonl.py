"""Reads a history of JSON lines into tables of operations: quickly where it is well formed.

Two readers, one meaning. `checkers.history.operations` reads line by line, is exact, and has the
words for what is wrong; here, long files go piece by piece through a compiled scanner and are
paired as columns. At the first thing that the scanner does not read, what remains is left to the
exact reader. Memory: a chunk of the file, its columns and the open operations.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from kraftproof.checkers.history.operations import Operation, iterate_operations
from kraftproof.checkers.history.read.pairing import NotPlainError, Pairing
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.history.unpacking import UNREADABLE, open_unpacked

PIECE_BYTES: Final = 8 << 20
SMALL_BYTES: Final = 4 << 20
"""Up to here the exact reader is quick enough, and nothing compiled is loaded."""

_BATCH_ROWS: Final = 50_000


def json_batches(
    path: Path, *, small_bytes: int = SMALL_BYTES, piece_bytes: int = PIECE_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield the operations of a history by completion, incomplete operations at the end.

    Args:
        path: a file of JSON lines, packed or not.
        small_bytes: a file up to this long is read line by line.
        piece_bytes: how much of a longer one is taken at a time.

    Raises: HistoryError: the history can't be read; the message names file, line and field.
    """
    done = 0
    try:
        for batch in _quickly(path, small_bytes, piece_bytes):
            yield batch
            done += len(batch)
    except (NotPlainError, *UNREADABLE):
        # The exact reader completes operations in the same order: its first `done` operations
        # are already yielded.
        yield from batches_of_operations(islice(iterate_operations(path), done, None))


def batches_of_operations(operations: Iterator[Operation]) -> Iterator[pa.RecordBatch]:
    """Yield operations as batches of a bounded number of rows."""
    while rows := list(islice(operations, _BATCH_ROWS)):
        yield from operations_table(rows).to_batches()


def _quickly(path: Path, small_bytes: int, piece_bytes: int) -> Iterator[pa.RecordBatch]:
    pairing = Pairing()
    for piece in _pieces(path, small_bytes, piece_bytes):
        from kraftproof.checkers.history.read.json_events import (
            events_of,  # compiled: long files only
        )

        yield pairing.feed(*events_of(piece))
    yield pairing.rest()


def _pieces(path: Path, small_bytes: int, piece_bytes: int) -> Iterator[bytes]:
    """Yield the file as pieces of whole lines, the last with its newline."""
    with open_unpacked(path) as file:
        piece = file.read(max(piece_bytes, small_bytes + 1))
        if len(piece) <= small_bytes:
            raise NotPlainError
        while piece:
            end = piece.rfind(b"\n") + 1
            more = file.read(piece_bytes)
            if not more and end < len(piece):
                piece, end = piece + b"\n", len(piece) + 1
            if end == 0:
                raise NotPlainError  # a line as long as a piece
            yield piece[:end]
            piece = piece[end:] + more
