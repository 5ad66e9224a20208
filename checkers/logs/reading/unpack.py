"""Reads the operations on one partition into columns of facts.

Long partitions are read by compiled readers (`checkers.logs.reading.scanning`) if all texts have
the layout that Kraftproof writes; all others by a general JSON decoder.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.history.columns import INFO, NEVER, OK
from kraftproof.checkers.history.schema import OPERATION_STATUSES
from kraftproof.checkers.logs.reading import scanning
from kraftproof.checkers.logs.reading.facts import (
    ASSIGN,
    FINAL,
    POLL,
    UNANSWERED,
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
from kraftproof.checkers.text import shortened

_FEW: Final = 5_000
"""Operations up to which the general decoder is quicker than to load compiled code."""
_RUN: Final = re.compile(r'"value":"[0-9]+\.[0-9]+@([0-9A-Za-z_-]+)"')
_READ_RUN: Final = re.compile(rb'\[[0-9]+,"[0-9]+\.[0-9]+@([0-9A-Za-z_-]+)"')
_SEND: Final = 3
_FUNCTIONS: Final = ("poll", "final", "assign", "send")
"""The functions by number: POLL, FINAL, ASSIGN and _SEND."""
assert (POLL, FINAL, ASSIGN) == (0, 1, 2)

T = TypeVar("T", bound=msgspec.Struct)


class _Rows(NamedTuple):
    """Some operations of a partition.

    Attributes:
        table: all operations.
        at: the rows of the table.
        status: OK, FAIL or INFO of each row.
    """

    table: pa.Table
    at: Ints
    status: Ints

    @override
    def __len__(self) -> int:
        return len(self.at)

    def where(self, chosen: Bools) -> "_Rows":
        """Return the rows of a mask."""
        return _Rows(self.table, self.at[chosen], self.status[chosen])

    def numbers(self, name: str, absent: int | None = None) -> Ints:
        """Return the numbers in a column."""
        values = self.table.column(name)
        if absent is not None and values.null_count:
            values = pc.fill_null(values, absent)
        return _whole(values)[self.at].astype(np.int64, copy=False)

    def texts(self, name: str) -> list[str]:
        """Return the texts in a column."""
        found: list[str] = self.table.column(name).take(pa.array(self.at)).to_pylist()
        return found


def unpacked(rows: pa.Table, *, is_compiled: bool | None = None) -> tuple[Facts, Values]:
    """Return the facts of a partition's operations, which come by invocation.

    Args:
        rows: the operations, with the columns of `checkers.history.schema.OPERATIONS`.
        is_compiled: whether compiled readers are tried; None to decide by the number of rows.

    Raises:
        ValueError: an operation has another form; the message names the field.
    """
    f, status = (
        _codes(rows.column("f"), _FUNCTIONS),
        _codes(rows.column("status"), OPERATION_STATUSES),
    )
    is_lost = ((f == POLL) | (f == ASSIGN)) & (status == INFO)
    is_poll = ((f >= 0) & (f != _SEND) & (status == OK)) | is_lost
    sends, polls = (
        _Rows(rows, at, status[at]) for at in (np.flatnonzero(f == _SEND), np.flatnonzero(is_poll))
    )
    kinds = np.where(is_lost, UNANSWERED, f)[polls.at].astype(np.int64)
    if len(rows) > _FEW if is_compiled is None else is_compiled:
        found = _scanned(sends, polls, kinds)
        if found is not None:
            return found
    return _decoded(sends, polls, kinds)


def _scanned(sends: _Rows, polls: _Rows, kinds: Ints) -> tuple[Facts, Values] | None:
    """Return the facts of texts of the common layout; None if any text has another layout."""
    places = np.flatnonzero(_is_answer(kinds))
    reading = polls.at[places]
    told = scanning.bytes_of(_texts(sends.table, "output"))
    run = run_of(sends) if len(sends) else run_read(*told, reading)
    if run is None:
        return None
    suffix = np.frombuffer(f'@{run}"'.encode(), dtype=np.uint8)
    values, acks, idempotent = (np.zeros(len(sends), dtype=np.int64) for _ in range(3))
    asked = scanning.bytes_of(_texts(sends.table, "input"))
    if scanning.scan_sends(*asked, sends.at, suffix, values, acks, idempotent) >= 0:
        return None
    offset = np.full(len(sends), UNKNOWN, dtype=np.int64)
    is_told = (sends.status == OK) & (acks != 0)
    answers = np.zeros(int(is_told.sum()), dtype=np.int64)
    if scanning.scan_offsets(*told, sends.at[is_told], answers) >= 0:
        return None
    offset[is_told] = answers
    most = scanning.count_records(*told, reading)
    offsets, read_values = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    counts, bounds = np.zeros(len(reading), np.int64), np.zeros(2 * len(reading), np.int64)
    if scanning.scan_records(*told, reading, suffix, offsets, read_values, counts, bounds) >= 0:
        return None
    received = int(counts.sum())
    reads = Reads(
        poll=np.repeat(places, counts),
        offset=offsets[:received],
        value=read_values[:received],
    )
    return Facts(
        sends=_sends(sends, values, offset, acks, idempotent),
        reads=reads,
        polls=_polls(polls, kinds, places, counts, bounds),
    ), Values(run=run)


def _decoded(sends: _Rows, polls: _Rows, kinds: Ints) -> tuple[Facts, Values]:
    asked = _decoder(sends, "input", Send)
    is_ok = sends.status == OK
    told = _decoder(sends.where(is_ok), "output", Sent)
    acks, idempotent = _ints([one.acks for one in asked]), _ints([one.idempotent for one in asked])
    offset = np.full(len(sends), UNKNOWN, dtype=np.int64)
    offset[is_ok] = [UNKNOWN if one.offset is None else one.offset for one in told]
    offset[acks == 0] = UNKNOWN  # no broker stated it
    answers = _decoder(polls.where(_is_answer(kinds)), "output", Received)
    records = [record for answer in answers for record in answer.records]
    texts = [canonical(one.value) for one in asked] + [canonical(one) for _, one in records]
    numbers, values = numbered(texts)
    places = np.flatnonzero(_is_answer(kinds))
    counts = _ints([len(answer.records) for answer in answers])
    bounds = [
        UNKNOWN if one is None else one for told in answers for one in (told.log_start, told.end)
    ]
    reads = Reads(
        poll=np.repeat(places, counts),
        offset=_ints([place for place, _ in records]),
        value=numbers[len(sends) :],
    )
    return Facts(
        sends=_sends(sends, numbers[: len(sends)], offset, acks, idempotent),
        reads=reads,
        polls=_polls(polls, kinds, places, counts, _ints(bounds)),
    ), values


def run_of(sends: _Rows) -> str | None:
    """Return the run that the value of the first send names; None without one."""
    found = _RUN.search(sends.table.column("input")[int(sends.at[0])].as_py())
    return None if found is None else found[1]


def run_read(data: scanning.Bytes, begins: Ints, rows: Ints) -> str | None:
    """Return the run that the first value in answers of polls names; None without one."""
    for row in rows.tolist():
        found = _READ_RUN.search(data.data[begins[row] : begins[row + 1]])
        if found is not None:
            return found[1].decode()
    return None


def _sends(rows: _Rows, value: Ints, offset: Ints, acks: Ints, idempotent: Ints) -> Sends:
    return Sends(
        index=rows.numbers("index"),
        value=value,
        offset=offset,
        status=rows.status.astype(np.int64),
        invoke=rows.numbers("invoke_index"),
        complete=_ended(rows, "complete_index"),
        invoke_time=rows.numbers("invoke_time", UNKNOWN),
        complete_time=_ended(rows, "complete_time"),
        acks=acks,
        idempotent=idempotent,
    )


def _polls(rows: _Rows, kinds: Ints, reading: Ints, counts: Ints, bounds: Ints) -> Polls:
    asked = _decoder(rows, "input", Position)
    count, log_start, end = (np.full(len(rows), UNKNOWN, dtype=np.int64) for _ in range(3))
    count[:] = 0
    count[reading], log_start[reading], end[reading] = counts, bounds[::2], bounds[1::2]
    return Polls(
        index=rows.numbers("index"),
        process=rows.numbers("process"),
        kind=kinds,
        position=_ints([UNKNOWN if one.position is None else one.position for one in asked]),
        count=count,
        log_start=log_start,
        end=end,
        invoke=rows.numbers("invoke_index"),
        complete=rows.numbers("complete_index", NEVER),
        invoke_time=rows.numbers("invoke_time", UNKNOWN),
        complete_time=rows.numbers("complete_time", UNKNOWN),
    )


def _is_answer(kinds: Ints) -> Bools:
    """Return which rows have an answer with records."""
    found: Bools = (kinds == POLL) | (kinds == FINAL)
    return found


def _decoder(rows: _Rows, column: str, kind: type[T]) -> list[T]:
    decode = msgspec.json.Decoder(kind).decode
    texts = rows.texts(column)
    found: list[T] = []
    try:
        found.extend(map(decode, texts))
    except msgspec.ValidationError as error:
        place = len(found)
        index, f = rows.numbers("index")[place], rows.texts("f")[place]
        raise ValueError(
            f"field value: operation {index}, {f} {shortened(texts[place])}: {error}: "
            "all operations on a partition have the form of its first send or read"
        ) from error
    return found


def _ended(rows: _Rows, name: str) -> Ints:
    """Return the completions of sends, NEVER for a send that was not acknowledged."""
    found = rows.numbers(name, NEVER)
    found[rows.status != OK] = NEVER
    return found


def _codes(texts: pa.ChunkedArray, known: Sequence[str]) -> Ints:
    """Return the number of each text among known texts, -1 for another text."""
    return _whole(pc.fill_null(pc.index_in(texts, pa.array(known)), -1))


def _whole(values: pa.ChunkedArray) -> Ints:
    found: Ints = values.to_numpy()
    return found


def _texts(rows: pa.Table, name: str) -> pa.Array:
    texts = rows.column(name)
    if texts.num_chunks == 1:
        return texts.chunk(0)  # without a copy
    whole = texts.combine_chunks()
    is_long = isinstance(whole, pa.ChunkedArray)  # more than 2 GiB of text
    return whole.cast(pa.large_string()).combine_chunks() if is_long else whole


def _ints(values: Sequence[int]) -> Ints:
    return np.asarray(values, dtype=np.int64)
