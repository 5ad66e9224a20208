"""Compiled kernels for long histories of lists: integers out of JSON, and who appended what.

Imported only when a history is long enough to be worth it (`checkers.calls.lists.lists`).
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.calls.lists.elements import ABORTED, UNKNOWN, Observed
from kraftproof.checkers.calls.values import of_function
from kraftproof.checkers.history.columns import OK, Columns
from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_BLANK: Final = ord(" ")
_COMMA: Final = ord(",")
_MINUS: Final = ord("-")
_OPEN: Final = ord("[")
_CLOSE: Final = ord("]")
_ZERO: Final = ord("0")
_MOST_DIGITS: Final = 18
_NO_NUMBER: Final = -1


def observed_integers(columns: Columns) -> Observed | None:
    """Return the actions of a history of appends and reads, None unless all are of integers."""
    is_read = of_function(columns, "read")
    rows = np.flatnonzero(~is_read | (columns.status == OK))
    reads = is_read[rows]
    appended = _numbers(columns.column("input", rows[~reads]), 0)
    answered = _numbers(columns.column("output", rows[reads]), 1)
    if appended is None or answered is None:
        return None
    value, lengths = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    value[~reads] = appended[0]
    lengths[reads] = answered[1]
    return Observed(
        row=rows,
        is_read=reads,
        list_number=np.zeros(len(rows), dtype=np.int64),
        value=value,
        seen=np.concatenate(([0], np.cumsum(lengths))),
        values=answered[0],
    )


def _numbers(texts: pa.Array, depth: int) -> tuple[Ints, Ints] | None:
    """Return the integers in the texts, and the count in each text.

    None if a text has other elements.

    Args:
        texts: JSON texts.
        depth: 1 for lists of integers, of which null is an empty one; 0 for integers.
    """
    texts = pc.fill_null(texts, "null").cast(pa.large_string())
    if depth:
        texts = pc.if_else(pc.equal(texts, "null"), "[]", texts)
    if not len(texts):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    _, offset_buffer, data = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset :][: len(texts) + 1]
    found, lengths, is_read = parse(np.frombuffer(data or b"", dtype=np.uint8), offsets, depth)
    return (found, lengths) if is_read else None


@kernel
def parse(data: Bytes, offsets: Ints, depth: int) -> tuple[Ints, Ints, bool]:
    """Parse texts that are integers (depth 0) or lists of integers (depth 1).

    Args:
        data: uint8[bytes].
        offsets: int64[n + 1]; text t is offsets[t] to offsets[t + 1] of `data`.
        depth: 0 or 1.

    Returns:
        int64[e], the integers; int64[n], how many each text has; and whether all could be read.
    """
    found = np.empty((offsets[-1] - offsets[0]) // (1 + depth) + 1, dtype=np.int64)
    lengths = np.zeros(len(offsets) - 1, dtype=np.int64)
    count = 0
    for text in range(len(lengths)):
        start, end = offsets[text], offsets[text + 1]
        if depth:
            if end - start < 2 or data[start] != _OPEN or data[end - 1] != _CLOSE:
                return found, lengths, False
            start, end = start + 1, end - 1
        before = count
        while start < end:
            number, start, is_read = _integer(data, _past_blanks(data, start, end), end)
            if not is_read:
                return found, lengths, False
            found[count] = number
            count += 1
            start = _past_blanks(data, start, end)
            if start < end:
                if data[start] != _COMMA or start + 1 == end:
                    return found, lengths, False
                start += 1
        lengths[text] = count - before
        if not depth and count - before != 1:
            return found, lengths, False
    return found[:count], lengths, True


@kernel
def _past_blanks(data: Bytes, start: int, end: int) -> int:
    while start < end and data[start] == _BLANK:
        start += 1
    return start


@kernel
def _integer(data: Bytes, start: int, end: int) -> tuple[int, int, bool]:
    """Return the integer at a place, its end, and whether the text is an integer."""
    is_negative = start < end and data[start] == _MINUS
    place = start + 1 if is_negative else start
    first, number = place, 0
    while place < end and _ZERO <= data[place] <= _ZERO + 9:
        number = number * 10 + int(data[place]) - _ZERO
        place += 1
    is_read = 0 < place - first <= _MOST_DIGITS
    return int(-number if is_negative else number), place, is_read


@kernel
def trace(
    write_lists: Ints,
    write_values: Ints,
    lost_lists: Ints,
    lost_values: Ints,
    lists: Ints,
    seen: Ints,
    values: Ints,
) -> tuple[Ints, Ints]:
    """Do what `checkers.calls.lists.lists` asks for, by open addressing.

    A read usually begins with the elements of the list's previous read, so these are compared
    first.

    Returns:
        int64[e], the place of the first append of each element, or UNKNOWN or ABORTED; and
        int64[w], the same of each append.
    """
    known_lists = np.concatenate((write_lists, lost_lists))
    known_values = np.concatenate((write_values, lost_values))
    table, first = _table(known_lists, known_values)
    found = np.empty(len(values), dtype=np.int64)
    latest = np.zeros(lists.max() + 1 if len(lists) else 0, dtype=np.int64)
    for action in range(len(lists)):
        shift = seen[action] - seen[latest[lists[action]]]
        for place in range(seen[action], seen[action + 1]):
            if shift > 0 and values[place - shift] == values[place] and found[place - shift] >= 0:
                appended = found[place - shift]
                if write_lists[appended] == lists[action]:
                    found[place] = appended
                    continue
            slot = _slot(table, known_lists, known_values, lists[action], values[place])
            found[place] = UNKNOWN if table[slot] == _NO_NUMBER else table[slot]
            if found[place] >= len(write_lists):
                found[place] = ABORTED
        if seen[action] < seen[action + 1]:
            latest[lists[action]] = action
    return found, first[: len(write_lists)]


@kernel
def _table(lists: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return a hash table of appends, and the first append of each one's element."""
    size = 16
    while size < 2 * len(lists):
        size *= 2
    table, first = np.full(size, _NO_NUMBER), np.empty(len(lists), dtype=np.int64)
    for place in range(len(lists)):
        slot = _slot(table, lists, values, lists[place], values[place])
        if table[slot] == _NO_NUMBER:
            table[slot] = place
        first[place] = table[slot]
    return table, first


@kernel
def _slot(table: Ints, lists: Ints, values: Ints, in_list: int, value: int) -> int:
    """Return the slot that holds an append of the value to the list, or where it would go."""
    mask = len(table) - 1
    mixed = (np.uint64(in_list) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(value)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    slot = int(mixed >> np.uint64(32)) & mask
    while table[slot] != _NO_NUMBER:
        held = table[slot]
        if lists[held] == in_list and values[held] == value:
            break
        slot = (slot + 1) & mask
    return slot
