"""Turns a piece of a file of JSON lines into columns of events, with the compiled scanner.

Texts come out as in `checkers.history.schema.OPERATIONS`: what JSON can spell in one way only is
copied, all else is decoded and spelled anew, once for each distinct text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.history.operations import as_text
from kraftproof.checkers.history.read.json_values import NULL, OTHER, QUOTE, STRING
from kraftproof.checkers.history.read.pairing import (
    EVENTS,
    INVOKE,
    JSON_LIKE_KEY,
    OTHER_KEY,
    NotPlainError,
)
from kraftproof.checkers.history.read.scan import (
    ERROR,
    FIELDS,
    INDEX,
    KEY,
    NODE,
    PROCESS,
    TIME,
    TYPE,
    VALUE,
    F,
    gather,
    scan,
)

_BEGINS_JSON: Final = np.isin(np.arange(256), list(b"-0123456789[{ntf"))
"""The first characters of JSON values other than texts."""


def events_of(piece: bytes) -> tuple[pa.Table, int]:
    """Return the events of whole lines, the last with its newline.

    Returns:
        A table with the columns of EVENTS, and the kinds of keys that its invocations have.

    Raises: NotPlainError: the scanner cannot read the events.
    """
    text = np.frombuffer(piece, np.uint8)
    lines = piece.count(b"\n")
    numbers = np.zeros((lines, 4), np.int64)
    spans = np.zeros((lines, len(FIELDS), 2), np.int32)
    forms = np.zeros((lines, len(FIELDS)), np.int8)
    rows = scan(text, numbers, spans, forms)
    if rows < 0:
        raise NotPlainError
    numbers, spans, forms = numbers[:rows], spans[:rows], forms[:rows]
    fields = _Fields(text, spans, forms)
    table = pa.table(
        {
            "index": numbers[:, INDEX],
            "process": numbers[:, PROCESS],
            "type": numbers[:, TYPE],
            "time": pa.array(numbers[:, TIME], mask=forms[:, TIME] == NULL),
            "f": fields.words(F),
            "key": fields.words(KEY),
            "value": pc.fill_null(fields.json(VALUE), "null"),
            "node": fields.words(NODE),
            "error": fields.words(ERROR),
        },
        schema=EVENTS,
    )
    return table, fields.key_kinds(numbers[:, TYPE] == INVOKE)


@dataclass(frozen=True, slots=True)
class _Fields:
    """The values of a piece's fields, as `scan` found them."""

    text: NDArray[np.uint8]
    spans: NDArray[np.int32]
    forms: NDArray[np.int8]

    def json(self, field: int) -> pa.Array:
        """Return a field's values as JSON, null for a missing value."""
        return self._values(field, self.spans[:, field], _as_json)

    def words(self, field: int) -> pa.Array:
        """Return a field's values, strings as they stand and all else as JSON."""
        inside = (self.forms[:, field] == STRING)[:, np.newaxis] * np.array([1, -1], np.int32)
        return self._values(field, self.spans[:, field] + inside, as_text)

    def key_kinds(self, events: NDArray[np.bool_]) -> int:
        """Return the kinds of keys of the given events, as `pairing` defines the kinds."""
        forms, begins = self.forms[events, KEY], self.spans[events, KEY, 0]
        is_plain = forms == STRING
        begins_json = np.any(_BEGINS_JSON[self.text[begins[is_plain] + 1]])
        kinds = JSON_LIKE_KEY if begins_json else 0
        if is_plain.all():
            return kinds
        is_escaped = (forms == OTHER) & (self.text[begins] == QUOTE)
        kinds |= JSON_LIKE_KEY if is_escaped.any() else 0
        return kinds | (0 if (is_plain | is_escaped).all() else OTHER_KEY)

    def _values(
        self, field: int, spans: NDArray[np.int32], spell: Callable[[object], str]
    ) -> pa.Array:
        offsets = np.zeros(len(spans) + 1, np.int32)
        np.cumsum(spans[:, 1] - spans[:, 0], out=offsets[1:])
        data = np.empty(offsets[-1], np.uint8)
        gather(self.text, spans[:, 0], offsets, data)
        buffers = pa.py_buffer(offsets), pa.py_buffer(data)
        forms = self.forms[:, field]
        if not np.any(forms == OTHER):
            found = pa.StringArray.from_buffers(len(spans), *buffers)
        else:
            raw = pa.BinaryArray.from_buffers(pa.binary(), len(spans), [None, *buffers])
            found = _respelled(raw, forms == OTHER, spell)
        return pc.if_else(pa.array(forms != NULL), found, None)


def _respelled(
    raw: pa.BinaryArray, is_other: NDArray[np.bool_], spell: Callable[[object], str]
) -> pa.StringArray:
    """Return the texts, with one spelling for values that JSON can spell in several ways."""
    others = raw.filter(pa.array(is_other)).dictionary_encode()
    try:
        spelled = [spell(msgspec.json.decode(text)) for text in others.dictionary.to_pylist()]
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise NotPlainError from error
    texts = pa.array(spelled, pa.string()).take(others.indices)
    plain = pc.if_else(pa.array(is_other), b"", raw).cast(pa.string())
    return pc.replace_with_mask(plain, pa.array(is_other), texts)


def _as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
