"""Spells JSON texts of a table as `checkers.history.tables` spells them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.lines import HistoryError

_AT_ONCE: Final = 2_000
"""Texts that are compared with their canonical spelling at a time: bounds the memory."""
_MANY: Final = 100_000
"""Texts from which on compiled code is loaded to compare them."""
_DECODER: Final = msgspec.json.Decoder()
_ENCODER: Final = msgspec.json.Encoder()


def canonical(path: Path, texts: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return JSON texts spelled as `checkers.history.tables` spells them."""
    if len(texts) >= _MANY:
        from kraftproof.checkers.history.read.spelling import are_canonical  # compiled

        if all(are_canonical(chunk) for chunk in texts.chunks):
            return texts
    spelled: list[pa.Array] = []
    row = 0
    with _without_collection():
        for chunk in texts.chunks:
            for start in range(0, len(chunk), _AT_ONCE):
                part = chunk.slice(start, _AT_ONCE)
                spelled.append(part if is_canonical(part) else _spelled(path, part, name, row))
                row += len(part)
    return pa.chunked_array(spelled, pa.string())


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the cyclic garbage collector: decoded JSON has no cycles, and is dropped at once."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def is_canonical(texts: pa.Array) -> bool:
    """Return whether each text is spelled as msgspec spells its value.

    The texts become the lines of one text, which is decoded and encoded in two calls. A text with a
    line feed is never canonical, so equal lines mean equal texts.
    """
    there = texts.drop_null()
    whole = pa.ListArray.from_arrays([0, len(there)], there)
    joined = pc.binary_join(whole, "\n")[0].as_buffer()
    try:
        decoded = _DECODER.decode_lines(joined)
        return len(decoded) == len(there) and _ENCODER.encode_lines(decoded)[:-1] == joined
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def _spelled(path: Path, texts: pa.Array, name: str, row: int) -> pa.Array:
    """Return the texts, each decoded and encoded; `row` is the number of the first row."""
    found: list[str | None] = []
    for place, text in enumerate(texts.to_pylist()):
        try:
            found.append(text and msgspec.json.encode(msgspec.json.decode(text)).decode())
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            where = f"{path}: row {row + place}: field {name}"
            raise HistoryError(f"{where}: not JSON: {error}") from error
    return pa.array(found, pa.string())
