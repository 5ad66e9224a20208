"""Reads the operations on one partition into columns of facts.

Long partitions are read by compiled readers (`checkers.logs.reading.scanning`) if all texts have
the layout that Kraftproof writes; all others by a general JSON decoder.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.history.columns import NEVER, OK
from kraftproof.checkers.history.schema import OPERATION_STATUSES
from kraftproof.checkers.logs.reading import scanning
from kraftproof.checkers.logs.reading.facts import (
    ASSIGN,
    FINAL,
    POLL,
    UNKNOWN,
    Bools,
    Facts,
    Ints,
    Polls,
    Reads,
    Sends,
)
from kraftproof.checkers.logs.reading.forms import Position, Received, Send, Sent
from kraftproof.checkers.logs.reading.values import Values, numbered

_FEW: Final = 5_000
"""Operations up to which the general decoder is quicker than to load compiled code."""
_RUN: Final = re.compile(r'"value":"[0-9]+\.[0-9]+@([0-9A-Za-z_-]+)"')
_READ_RUN: Final = re.compile(rb'\[[0-9]+,"[0-9]+\.[0-9]+@([0-9A-Za-z_-]+)"')
_KINDS: Final = {"poll": POLL, "final": FINAL, "assign": ASSIGN}

T = TypeVar("T", bound=msgspec.Struct)


def unpacked(rows: pa.Table, *, is_compiled: bool | None = None) -> tuple[Facts, Values]:
    """Return the facts of a partition's operations, which come by invocation.

    Args:
        rows: the operations, with the columns of `checkers.history.schema.OPERATIONS`.
        is_compiled: whether compiled readers are tried; None to decide by the number of rows.

    Raises:
        ValueError: an operation has another form; the message names the field.
    """
    f = rows.column("f")
    sends = rows.filter(pc.equal(f, "send"))
    is_reader = pc.is_in(f, pa.array(list(_KINDS)))
    polls = rows.filter(pc.and_(is_reader, pc.equal(rows.column("status"), "ok")))
    if len(rows) > _FEW if is_compiled is None else is_compiled:
        found = _scanned(sends, polls)
        if found is not None:
            return found
    return _decoded(sends, polls)


def _scanned(sends: pa.Table, polls: pa.Table) -> tuple[Facts, Values] | None:
    """Return the facts of texts of the common layout; None if any text has another layout."""
    is_reading = pc.not_equal(polls.column("f"), "assign")
    reading = polls.filter(is_reading)
    data, begins = scanning.bytes_of(_texts(reading, "output"))
    run = run_of(sends) if len(sends) else run_read(data, begins)
    if run is None:
        return None
    suffix = np.frombuffer(f'@{run}"'.encode(), dtype=np.uint8)
    n, is_ok = len(sends), pc.equal(sends.column("status"), "ok")
    values, acks, idempotent = (np.zeros(n, dtype=np.int64) for _ in range(3))
    asked = scanning.bytes_of(_texts(sends, "input"))
    if scanning.scan_sends(*asked, suffix, values, acks, idempotent) >= 0:
        return None
    offset = np.full(n, UNKNOWN, dtype=np.int64)
    told = _mask(is_ok) & (acks != 0)
    answers = np.zeros(int(told.sum()), dtype=np.int64)
    told_texts = _texts(sends.filter(pa.array(told)), "output")
    if scanning.scan_offsets(*scanning.bytes_of(told_texts), answers) >= 0:
        return None
    offset[told] = answers
    most = scanning.count_records(data, begins) if len(reading) else 0
    offsets, read_values = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    counts, bounds = np.zeros(len(reading), np.int64), np.zeros(2 * len(reading), np.int64)
    if scanning.scan_records(data, begins, suffix, offsets, read_values, counts, bounds) >= 0:
        return None
    places = np.flatnonzero(_mask(is_reading))
    received = int(counts.sum())
    reads = Reads(
        poll=np.repeat(places, counts),
        offset=offsets[:received].copy(),
        value=read_values[:received].copy(),
    )
    return Facts(
        sends=_sends(sends, values, offset, acks, idempotent),
        reads=reads,
        polls=_polls(polls, places, counts, bounds),
    ), Values(run=run)


def _decoded(sends: pa.Table, polls: pa.Table) -> tuple[Facts, Values]:
    asked = _decoder(sends, "input", Send)
    is_ok = _mask(pc.equal(sends.column("status"), "ok"))
    told = _decoder(sends.filter(pa.array(is_ok)), "output", Sent)
    offset = np.full(len(sends), UNKNOWN, dtype=np.int64)
    offset[is_ok] = [UNKNOWN if one.offset is None else one.offset for one in told]
    is_reading = pc.not_equal(polls.column("f"), "assign")
    answers = _decoder(polls.filter(is_reading), "output", Received)
    records = [record for answer in answers for record in answer.records]
    texts = [canonical(one.value) for one in asked] + [canonical(one) for _, one in records]
    numbers, values = numbered(texts)
    places = np.flatnonzero(_mask(is_reading))
    counts = _ints([len(answer.records) for answer in answers])
    bounds = [
        UNKNOWN if one is None else one for told in answers for one in (told.log_start, told.end)
    ]
    reads = Reads(
        poll=np.repeat(places, counts),
        offset=_ints([place for place, _ in records]),
        value=numbers[len(sends) :],
    )
    acks, idempotent = _ints([one.acks for one in asked]), _ints([one.idempotent for one in asked])
    return Facts(
        sends=_sends(sends, numbers[: len(sends)], offset, acks, idempotent),
        reads=reads,
        polls=_polls(polls, places, counts, _ints(bounds)),
    ), values


def run_of(sends: pa.Table) -> str | None:
    """Return the run that the value of the first send names; None without one."""
    found = _RUN.search(sends.column("input")[0].as_py())
    return None if found is None else found[1]


def run_read(data: scanning.Bytes, begins: Ints) -> str | None:
    """Return the run that the first value in answers of polls names; None without one."""
    found = _READ_RUN.search(data.data[begins[0] : begins[-1]])
    return None if found is None else found[1].decode()


def _sends(rows: pa.Table, value: Ints, offset: Ints, acks: Ints, idempotent: Ints) -> Sends:
    status = pc.index_in(rows.column("status"), pa.array(OPERATION_STATUSES))
    return Sends(
        index=_column(rows, "index"),
        value=value,
        offset=offset,
        status=_whole(status).astype(np.int64),
        invoke=_column(rows, "invoke_index"),
        complete=_ended(rows, "complete_index"),
        invoke_time=_column(rows, "invoke_time", UNKNOWN),
        complete_time=_ended(rows, "complete_time"),
        acks=acks,
        idempotent=idempotent,
    )


def _polls(rows: pa.Table, reading: Ints, counts: Ints, bounds: Ints) -> Polls:
    asked = _decoder(rows, "input", Position)
    count, log_start, end = (np.full(len(rows), UNKNOWN, dtype=np.int64) for _ in range(3))
    count[:] = 0
    count[reading], log_start[reading], end[reading] = counts, bounds[::2], bounds[1::2]
    return Polls(
        index=_column(rows, "index"),
        process=_column(rows, "process"),
        kind=_ints([_KINDS[one] for one in rows.column("f").to_pylist()]),
        position=_ints([UNKNOWN if one.position is None else one.position for one in asked]),
        count=count,
        log_start=log_start,
        end=end,
        invoke=_column(rows, "invoke_index"),
        complete=_column(rows, "complete_index", NEVER),
        invoke_time=_column(rows, "invoke_time", UNKNOWN),
        complete_time=_column(rows, "complete_time", UNKNOWN),
    )


def _decoder(rows: pa.Table, column: str, kind: type[T]) -> list[T]:
    decode = msgspec.json.Decoder(kind).decode
    try:
        return [decode(text) for text in rows.column(column).to_pylist()]
    except msgspec.ValidationError as error:
        raise ValueError(f"field value: {error}") from error


def _ended(rows: pa.Table, name: str) -> Ints:
    """Return the completions of sends, NEVER for a send that was not acknowledged."""
    found = _column(rows, name, NEVER)
    status = _whole(pc.index_in(rows.column("status"), pa.array(OPERATION_STATUSES)))
    found[status != OK] = NEVER
    return found


def _column(rows: pa.Table, name: str, absent: int | None = None) -> Ints:
    values = rows.column(name)
    if absent is not None and values.null_count:
        values = pc.fill_null(values, absent)
    return _whole(values).astype(np.int64)


def _whole(values: pa.ChunkedArray) -> Ints:
    found: Ints = values.to_numpy()
    return found


def _texts(rows: pa.Table, name: str) -> pa.Array:
    whole = rows.column(name).combine_chunks()
    is_long = isinstance(whole, pa.ChunkedArray)  # more than 2 GiB of text
    return whole.cast(pa.large_string()).combine_chunks() if is_long else whole


def _mask(chosen: pa.ChunkedArray) -> Bools:
    found: Bools = chosen.to_numpy().astype(np.bool_)
    return found


def _ints(values: Sequence[int]) -> Ints:
    return np.asarray(values, dtype=np.int64)
