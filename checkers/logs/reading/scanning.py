"""Compiled readers of the JSON texts that Kraftproof writes for sends, polls and their answers.

A reader takes the texts of a column as one array of bytes with the begin of each text, and the
rows to read. A text of another layout ends the reader; then `checkers.logs.reading.unpack` decodes
all of these texts with a general decoder. A value such as "3.17@k3f9" becomes 3 << 32 | 17.
"""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kraftproof.checkers.kernels import bare_kernel, kernel

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

ODD: Final = -(1 << 62)
"""Stands for a number that is not there, or too long."""
SEQUENCE_BITS: Final = 32
_LONGEST: Final = 18  # digits
_MOST_SEQUENCE: Final = 1 << SEQUENCE_BITS
_MOST_SESSION: Final = 1 << 30


def bytes_of(texts: pa.Array) -> tuple[Bytes, Ints]:
    """Return the bytes of a column of texts, and the begin of each text and the end of the last."""
    if not len(texts):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, starts, data = texts.buffers()
    begins = np.frombuffer(starts, dtype=kind)[texts.offset : texts.offset + len(texts) + 1]
    held = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return held, begins.astype(np.int64)


@bare_kernel
def _after(data: Bytes, at: int, end: int, expected: Bytes) -> int:
    """Return the place after an expected text, -1 if another text stands there."""
    size = len(expected)
    if at < 0 or at + size > end:
        return -1
    for step in range(size):
        if data[at + step] != expected[step]:
            return -1
    return at + size


@bare_kernel
def _digits(data: Bytes, at: int, end: int) -> int:
    """Return the place after a number without a sign, -1 without a number."""
    start = at
    while 0 <= at < end and 48 <= data[at] <= 57:
        at += 1
    is_padded = at > start + 1 and data[start] == 48
    return -1 if at <= start or at - start > _LONGEST or is_padded else at


@bare_kernel
def _number(data: Bytes, at: int, end: int) -> int:
    """Return the number that stands between two places."""
    found = 0
    while at < end:
        found = found * 10 + data[at] - 48
        at += 1
    return found


@bare_kernel
def _value(data: Bytes, at: int, end: int, suffix: Bytes) -> tuple[int, int]:
    """Return the number of a value, and the place after the value's text; ODD for another text."""
    if at < 0 or at >= end or data[at] != 34:
        return ODD, -1
    dot = _digits(data, at + 1, end)
    if dot < 0 or dot >= end or data[dot] != 46:
        return ODD, -1
    last = _digits(data, dot + 1, end)
    after = _after(data, last, end, suffix)
    if after < 0:
        return ODD, -1
    session, sequence = _number(data, at + 1, dot), _number(data, dot + 1, last)
    if session >= _MOST_SESSION or sequence >= _MOST_SEQUENCE:
        return ODD, -1
    return session << SEQUENCE_BITS | sequence, after


_ACKS: Final = np.frombuffer(b',"acks":', dtype=np.uint8)
_IDEMPOTENT: Final = np.frombuffer(b',"idempotent":', dtype=np.uint8)
_TRUE: Final = np.frombuffer(b"true}", dtype=np.uint8)
_FALSE: Final = np.frombuffer(b"false}", dtype=np.uint8)
_BEGIN: Final = np.frombuffer(b'{"value":', dtype=np.uint8)
_OFFSET: Final = np.frombuffer(b'{"offset":', dtype=np.uint8)
_RECORDS: Final = np.frombuffer(b'{"records":[', dtype=np.uint8)
_LOG_START: Final = np.frombuffer(b'],"log_start":', dtype=np.uint8)
_END: Final = np.frombuffer(b',"end":', dtype=np.uint8)


@kernel
def scan_sends(
    data: Bytes,
    begins: Ints,
    rows: Ints,
    suffix: Bytes,
    values: Ints,
    acks: Ints,
    idempotent: Ints,
) -> int:
    """Read the inputs of sends into three columns; return the first odd row, -1 without one."""
    for row in range(len(rows)):
        at, end = begins[rows[row]], begins[rows[row] + 1]
        value, at = _value(data, _after(data, at, end, _BEGIN), end, suffix)
        at = _after(data, at, end, _ACKS)
        if value == ODD or at < 0 or at >= end:
            return row
        sign = 1
        if data[at] == 45:
            sign, at = -1, at + 1
        after = _digits(data, at, end)
        if after < 0 or after != at + 1 or data[at] > 49 or (sign < 0 and data[at] != 49):
            return row
        acks[row] = sign * (data[at] - 48)
        at = _after(data, after, end, _IDEMPOTENT)
        if _after(data, at, end, _TRUE) == end:
            idempotent[row] = 1
        elif _after(data, at, end, _FALSE) == end:
            idempotent[row] = 0
        else:
            return row
        values[row] = value
    return -1


@kernel
def scan_offsets(data: Bytes, begins: Ints, rows: Ints, offsets: Ints) -> int:
    """Read the answers of sends; return the first odd row, -1 without one."""
    for row in range(len(rows)):
        end = begins[rows[row] + 1]
        at = _after(data, begins[rows[row]], end, _OFFSET)
        after = _digits(data, at, end)
        if after < 0 or after + 1 != end or data[after] != 125:
            return row
        offsets[row] = _number(data, at, after)
    return -1


@kernel
def count_records(data: Bytes, begins: Ints, rows: Ints) -> int:
    """Return an upper bound of the number of records in answers: the number of brackets."""
    found = 0
    for row in rows:
        for at in range(begins[row], begins[row + 1]):
            if data[at] == 91:
                found += 1
    return found


@kernel
def scan_records(
    data: Bytes,
    begins: Ints,
    rows: Ints,
    suffix: Bytes,
    offsets: Ints,
    values: Ints,
    counts: Ints,
    bounds: Ints,
) -> int:
    """Read the answers of polls; return the first odd row, -1 without one.

    Args:
        data: the bytes of a column of texts.
        begins: the begin of each text, and the end of the last.
        rows: int64[n], the texts that are answers of polls.
        suffix: the end of each value's text, with its quotation mark.
        offsets: receives the offset of each record.
        values: receives the number of each record's value.
        counts: int64[n], receives the number of records of each answer.
        bounds: int64[2 * n], receives the begin and the end of the log that each answer states.
    """
    made = 0
    for row in range(len(rows)):
        end, first = begins[rows[row] + 1], made
        at = _after(data, begins[rows[row]], end, _RECORDS)
        while 0 <= at < end and data[at] != 93:
            if made > first:
                at = at + 1 if data[at] == 44 else -1
            if at < 0 or at >= end or data[at] != 91:
                return row
            after = _digits(data, at + 1, end)
            if after < 0 or after >= end or data[after] != 44:
                return row
            offsets[made] = _number(data, at + 1, after)
            value, at_value = _value(data, after + 1, end, suffix)
            if value == ODD or at_value >= end or data[at_value] != 93:
                return row
            values[made] = value
            made += 1
            at = at_value + 1
        at = _after(data, at, end, _LOG_START)
        after = _digits(data, at, end)
        if after < 0:
            return row
        bounds[2 * row] = _number(data, at, after)
        at = _after(data, after, end, _END)
        after = _digits(data, at, end)
        if after < 0 or after + 1 != end or data[after] != 125:
            return row
        bounds[2 * row + 1] = _number(data, at, after)
        counts[row] = made - first
    return -1
